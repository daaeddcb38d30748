//! Files that come from somewhere else: why one is refused, and how one is read without believing it.

use std::error::Error;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

/// Why a file cannot be used.
///
/// # Examples
///
/// ```
/// use llama::gguf::Gguf;
/// use llama::untrusted::FileError;
///
/// let error = Gguf::open("no/such/model.gguf").unwrap_err();
/// assert!(matches!(error, FileError::Io { .. }));
/// assert!(error.to_string().starts_with("cannot read 'no/such/model.gguf': "));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum FileError {
    /// The operating system does not give it: it does not exist, is a directory, is not ours to read.
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// It is a file of another kind.
    WrongKind {
        /// What was asked for, with its article: `"a GGUF model"`.
        expected: &'static str,
        /// What was found instead.
        found: String,
    },
    /// It may be sound, but the bundled llama.cpp cannot use it.
    Unsupported(String),
    /// It contradicts itself, ends too early, or would make llama.cpp do what it must not.
    Malformed {
        /// What was wrong, with the value and the limit.
        what: String,
        /// The byte where it stands, counted from the start of the file; none where it is what is missing.
        position: Option<u64>,
    },
}

impl FileError {
    pub(crate) fn malformed(what: impl Into<String>) -> Self {
        Self::Malformed { what: what.into(), position: None }
    }

    pub(crate) fn malformed_at(position: u64, what: impl Into<String>) -> Self {
        Self::Malformed { what: what.into(), position: Some(position) }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, source } => write!(f, "cannot read '{}': {source}", path.display()),
            Self::WrongKind { expected, found } => write!(f, "not {expected}: {found}"),
            Self::Unsupported(what) => write!(f, "not supported: {what}"),
            Self::Malformed { what, position: Some(position) } => write!(f, "malformed: {what} (at byte {position})"),
            Self::Malformed { what, position: None } => write!(f, "malformed: {what}"),
        }
    }
}

impl Error for FileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// A name out of a file, fit for a message: lossy, escaped, and not longer than a line.
pub(crate) fn quoted(name: &[u8]) -> String {
    const LIMIT: usize = 64;
    let text = String::from_utf8_lossy(name);
    let mut shown: String = text.chars().take(LIMIT).flat_map(char::escape_debug).collect();
    if text.chars().nth(LIMIT).is_some() {
        shown.push('…');
    }
    format!("'{shown}'")
}

/// Reads forward through a file of known size. Nothing is read, skipped or allocated that the file cannot hold.
pub(crate) struct Reader<R> {
    inner: BufReader<R>,
    path: PathBuf,
    position: u64,
    size: u64,
}

impl Reader<File> {
    /// Opens `path`, which has to be a regular file: a directory, a pipe or a device is an error.
    pub(crate) fn open(path: &Path) -> Result<Self, FileError> {
        let failed = |source| FileError::Io { path: path.to_owned(), source };
        // Asked before it is opened, since opening a pipe without a writer waits for one.
        let kind = fs::metadata(path).map_err(failed)?;
        if kind.is_dir() {
            return Err(failed(io::Error::new(io::ErrorKind::IsADirectory, "is a directory")));
        }
        if !kind.is_file() {
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "is not a regular file")));
        }
        let file = File::open(path).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        Ok(Self::new(file, size, path))
    }
}

impl<R: Read> Reader<R> {
    pub(crate) fn new(inner: R, size: u64, path: &Path) -> Self {
        Self { inner: BufReader::with_capacity(1 << 16, inner), path: path.to_owned(), position: 0, size }
    }

    /// The byte that is read next.
    pub(crate) const fn position(&self) -> u64 {
        self.position
    }

    /// Bytes of the whole file.
    pub(crate) const fn size(&self) -> u64 {
        self.size
    }

    /// Bytes from the current position to the end.
    pub(crate) const fn remaining(&self) -> u64 {
        self.size.saturating_sub(self.position)
    }

    /// Refuses `count` units of at least `unit` bytes each if the rest of the file is too short for them.
    pub(crate) fn expect(&self, count: u64, unit: u64, what: &str) -> Result<(), FileError> {
        match count.checked_mul(unit) {
            Some(bytes) if bytes <= self.remaining() => Ok(()),
            _ if unit == 1 => {
                Err(self.here(format!("{what} takes {count} bytes, but only {} follow", self.remaining())))
            }
            _ => Err(self.here(format!(
                "{count} {what} take at least {unit} bytes each, but only {} bytes follow",
                self.remaining()
            ))),
        }
    }

    /// A complaint about what stands at the current position.
    pub(crate) fn here(&self, what: impl Into<String>) -> FileError {
        FileError::malformed_at(self.position, what)
    }

    /// The next `N` bytes.
    pub(crate) fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], FileError> {
        self.expect(N as u64, 1, what)?;
        let mut bytes = [0; N];
        self.inner.read_exact(&mut bytes).map_err(|error| self.failed(error))?;
        self.advance(N as u64);
        Ok(bytes)
    }

    pub(crate) fn u32(&mut self, what: &str) -> Result<u32, FileError> {
        self.array(what).map(u32::from_ne_bytes)
    }

    pub(crate) fn i32(&mut self, what: &str) -> Result<i32, FileError> {
        self.array(what).map(i32::from_ne_bytes)
    }

    pub(crate) fn u64(&mut self, what: &str) -> Result<u64, FileError> {
        self.array(what).map(u64::from_ne_bytes)
    }

    /// What comes next, as far as it is in memory.
    pub(crate) fn ready(&self) -> &[u8] {
        let buffer = self.inner.buffer();
        let left = usize::try_from(self.remaining()).unwrap_or(usize::MAX);
        buffer.get(..left).unwrap_or(buffer)
    }

    /// Leaves out that many bytes of what is ready.
    pub(crate) fn consume(&mut self, count: usize) {
        self.inner.consume(count);
        self.advance(count as u64);
    }

    /// Appends the next `count` bytes to `out`.
    pub(crate) fn append(&mut self, out: &mut Vec<u8>, count: u64, what: &str) -> Result<(), FileError> {
        self.expect(count, 1, what)?;
        // A string of a vocabulary, most of the time.
        if let Some(ready) = usize::try_from(count).ok().and_then(|count| self.ready().get(..count)) {
            out.extend_from_slice(ready);
            let taken = ready.len();
            self.consume(taken);
            return Ok(());
        }
        let mut left = count;
        while left > 0 {
            // In pieces, so that memory is taken for what was read and not for what was promised.
            let piece = left.min(1 << 20);
            let start = out.len();
            let Ok(length) = usize::try_from(piece) else {
                return Err(self.here(format!("{what} is too large for this machine")));
            };
            out.resize(start.saturating_add(length), 0);
            let Some(target) = out.get_mut(start..) else {
                return Err(self.here(format!("{what} is too large for this machine")));
            };
            self.inner.read_exact(target).map_err(|error| self.failed(error))?;
            self.advance(piece);
            left = left.saturating_sub(piece);
        }
        Ok(())
    }

    /// The next `count` bytes.
    pub(crate) fn bytes(&mut self, count: u64, what: &str) -> Result<Vec<u8>, FileError> {
        let mut out = Vec::new();
        self.append(&mut out, count, what)?;
        Ok(out)
    }

    fn advance(&mut self, count: u64) {
        self.position = self.position.saturating_add(count);
    }

    fn failed(&self, error: io::Error) -> FileError {
        if error.kind() == io::ErrorKind::UnexpectedEof {
            return self.here("the file became shorter while it was read");
        }
        FileError::Io { path: self.path.clone(), source: error }
    }
}

impl<R: Read + Seek> Reader<R> {
    /// Passes over `count` bytes.
    pub(crate) fn skip(&mut self, count: u64, what: &str) -> Result<(), FileError> {
        self.expect(count, 1, what)?;
        let Ok(distance) = i64::try_from(count) else {
            return Err(self.here(format!("{what} is too large for this machine")));
        };
        self.inner.seek_relative(distance).map_err(|error| self.failed(error))?;
        self.advance(count);
        Ok(())
    }
}

/// Changes files by chance, the same ones each time.
#[cfg(test)]
pub(crate) mod mutation {
    pub(crate) struct Mutator(u64);

    impl Mutator {
        pub(crate) const fn new(seed: u64) -> Self {
            Self(seed)
        }

        /// SplitMix64.
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }

        pub(crate) fn below(&mut self, limit: usize) -> usize {
            (self.next() % limit.max(1) as u64) as usize
        }

        /// One to three changes: bytes flipped, fields set to numbers that hurt, bytes copied, the end cut off.
        pub(crate) fn mutate(&mut self, bytes: &mut Vec<u8>) {
            for _ in 0..=self.below(3) {
                self.change(bytes);
            }
        }

        fn change(&mut self, bytes: &mut Vec<u8>) {
            const NUMBERS: [u64; 12] =
                [0, 1, 2, 0x7f, 0xff, 0xffff, i32::MAX as u64, 1 << 31, u32::MAX as u64, 1 << 32, 1 << 63, u64::MAX];
            let at = self.below(bytes.len());
            let number = NUMBERS[self.below(NUMBERS.len())];
            match self.below(8) {
                0 | 1 => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte ^= 1 << self.below(8);
                    }
                }
                2 => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = self.next() as u8;
                    }
                }
                3 => put(bytes, at, &number.to_ne_bytes()),
                4 => put(bytes, at & !3, &(number as u32).to_ne_bytes()),
                5 => {
                    // Something else that the file says itself, elsewhere.
                    let from = self.below(bytes.len());
                    let width = 1 + self.below(12);
                    let copied: Vec<u8> = bytes.iter().skip(from).take(width).copied().collect();
                    put(bytes, at, &copied);
                }
                6 => {
                    // A small change of a number.
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = byte.wrapping_add([1, 255, 2, 4, 8, 16, 248, 64][self.below(8)]);
                    }
                }
                _ => {
                    if self.below(4) == 0 {
                        bytes.truncate(at);
                    }
                }
            }
        }
    }

    fn put(bytes: &mut [u8], at: usize, new: &[u8]) {
        for (target, &byte) in bytes.iter_mut().skip(at).zip(new) {
            *target = byte;
        }
    }

    /// The most memory that this process ever had, in bytes, give or take what the system has not counted yet; 0 where
    /// it does not tell.
    pub(crate) fn peak_memory() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        kilobytes.unwrap_or(0) << 10
    }
}
