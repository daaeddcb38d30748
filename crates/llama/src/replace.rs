//! Files that appear whole or not at all.

use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A file beside the one that is to be written. It takes that one's place by [`Replacement::commit`], or is gone.
pub(crate) struct Replacement {
    /// As the caller has it, for messages.
    given: PathBuf,
    target: PathBuf,
    temporary: PathBuf,
    done: bool,
    /// The process that made it. One that is forked from that has no right to it.
    owner: u32,
}

impl Replacement {
    /// Makes an empty file beside `given`.
    pub(crate) fn new(given: &Path) -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let target = resolve(given).map_err(|e| cannot_write(given, &e))?;
        // A device or a pipe is no file that could be replaced.
        let permissions = match fs::metadata(&target) {
            Ok(found) if found.is_dir() => return Err(cannot_write(given, &"it is a directory")),
            Ok(found) if !found.is_file() => return Err(cannot_write(given, &"it is no regular file")),
            Ok(found) => Some(found.permissions()),
            Err(_) => None,
        };
        let name = target.file_name().ok_or_else(|| cannot_write(given, &"the path names no file"))?;
        let mut temporary = std::ffi::OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}-{}.part", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
        let temporary = target.with_file_name(temporary);
        let file = File::create(&temporary).map_err(|e| cannot_write(given, &e))?;
        let replacement = Self { given: given.to_owned(), target, temporary, done: false, owner: std::process::id() };
        // What nobody else might read stays so.
        if let Some(permissions) = permissions {
            file.set_permissions(permissions).map_err(|e| cannot_write(given, &e))?;
        }
        Ok(replacement)
    }

    /// Whether this is a process that was forked from the one that made it.
    pub(crate) fn is_inherited(&self) -> bool {
        self.owner != std::process::id()
    }

    /// Where to write.
    pub(crate) fn path(&self) -> &Path {
        &self.temporary
    }

    /// Writes the parts, one after the other.
    pub(crate) fn write(&self, parts: &[&[u8]]) -> Result<()> {
        let write = || -> io::Result<()> {
            let mut file = File::create(&self.temporary)?;
            for part in parts {
                file.write_all(part)?;
            }
            file.sync_data()
        };
        write().map_err(|e| cannot_write(&self.given, &e))
    }

    /// Puts the file in its place.
    pub(crate) fn commit(mut self) -> Result<()> {
        if self.is_inherited() {
            return Err(cannot_write(&self.given, &"it belongs to the process that this one was forked from"));
        }
        fs::rename(&self.temporary, &self.target).map_err(|e| cannot_write(&self.given, &e))?;
        self.done = true;
        Ok(())
    }
}

/// Where a path leads to: an absolute one, since the folder may change meanwhile, without links, since a link stays and
/// what it leads to is replaced, whether that is there already or not.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    /// As many as Linux follows.
    const MAX_LINKS: usize = 40;
    let mut path = std::path::absolute(path)?;
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(link) => path = path.parent().unwrap_or(&path).join(link),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links"))
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.done && !self.is_inherited() {
            // It may be gone already; there is nobody to tell.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

pub(crate) fn cannot_write(path: &Path, reason: &dyn std::fmt::Display) -> Error {
    Error::state(format!("cannot write {}: {reason}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let folder = std::env::temp_dir().join(format!("llama-replace-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let target = folder.join("state");
        let half = Replacement::new(&target).unwrap();
        half.write(&[b"ab"]).unwrap();
        drop(half);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        let whole = Replacement::new(&target).unwrap();
        whole.write(&[b"ab", b"c"]).unwrap();
        whole.commit().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"abc");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_a_device_is_left_alone() {
        let folder = std::env::temp_dir().join(format!("llama-replace-link-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (file, link) = (folder.join("file"), folder.join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let replacement = Replacement::new(&link).unwrap();
        replacement.write(&[b"new"]).unwrap();
        replacement.commit().unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        fs::remove_dir_all(&folder).unwrap();
        let refused = Replacement::new(Path::new("/dev/null")).err().map(|e| e.to_string());
        assert_eq!(refused.as_deref(), Some("cannot write /dev/null: it is no regular file"));
    }
}
