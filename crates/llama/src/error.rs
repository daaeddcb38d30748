//! What can go wrong, sorted by what a caller can do about it.

use std::ffi::CStr;
use std::fmt;

/// An error with a message that names the value, the limit and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// An argument that cannot be right, whatever the state.
    Argument(String),
    /// An index beyond the end of what it points into.
    Index(String),
    /// The call is right, but the state, a file or llama.cpp says no.
    State(String),
    /// There is not enough memory.
    NoMemory(String),
    /// The caller's own wish: a cancel flag or a progress callback that returned false.
    Cancelled,
}

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An [`Error::Argument`].
    pub fn argument(message: impl Into<String>) -> Self {
        Self::Argument(message.into())
    }

    /// An [`Error::State`].
    pub fn state(message: impl Into<String>) -> Self {
        Self::State(message.into())
    }

    /// What a call of the shim that returned `status` means; `what` says what was tried.
    pub(crate) fn from_status(status: i32, what: &str) -> Self {
        match status {
            crate::sys::SHIM_CANCELLED => Self::Cancelled,
            crate::sys::SHIM_NO_MEMORY => Self::NoMemory(format!("{what}: out of memory")),
            crate::sys::SHIM_THROWN => {
                // SAFETY: the shim's message is a NUL-terminated string of this thread's.
                let message = unsafe { CStr::from_ptr(crate::sys::shim_message()) }.to_string_lossy();
                Self::State(format!("{what}: {}", message.trim()))
            }
            _ => Self::state(what),
        }
    }
}

/// A `Vec` with room for `n` more. What a caller passes in may be larger than the memory, and a `Vec` that finds none
/// when it grows by itself ends the process.
///
/// # Errors
///
/// [`Error::NoMemory`].
///
/// # Examples
///
/// ```
/// use llama::error::{room, Error};
/// assert!(room::<i32>(3)?.capacity() >= 3);
/// assert_eq!(room::<i32>(usize::MAX), Err(Error::NoMemory(format!("no memory for {} values", usize::MAX))));
/// # Ok::<(), Error>(())
/// ```
pub fn room<T>(n: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    match values.try_reserve_exact(n) {
        Ok(()) => Ok(values),
        Err(_) => Err(Error::NoMemory(format!("no memory for {n} values"))),
    }
}

/// A copy of `values`, as [`room`] makes it.
pub(crate) fn copied<T: Copy>(values: &[T]) -> Result<Vec<T>> {
    let mut copy = room(values.len())?;
    copy.extend_from_slice(values);
    Ok(copy)
}

/// `Ok` for the shim's zero, else the error.
pub(crate) fn check(status: i32, what: &str) -> Result<()> {
    if status == crate::sys::SHIM_OK {
        Ok(())
    } else {
        Err(Error::from_status(status, what))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument(m) | Self::Index(m) | Self::State(m) | Self::NoMemory(m) => f.write_str(m),
            Self::Cancelled => f.write_str("cancelled"),
        }
    }
}

impl std::error::Error for Error {}
