//! The crate's errors as Ruby's exceptions.

use llama::error::Error as NativeError;
use magnus::{Error, Ruby};

/// The Ruby exception for an error of the crate `llama`.
pub fn to_ruby(ruby: &Ruby, error: NativeError) -> Error {
    let class = match error {
        NativeError::Argument(_) => ruby.exception_arg_error(),
        NativeError::Index(_) => ruby.exception_index_error(),
        NativeError::State(_) | NativeError::Cancelled => ruby.exception_runtime_error(),
        NativeError::NoMemory(_) => ruby.exception_no_mem_error(),
    };
    let message = match error {
        // An interrupt's cancelling never gets here.
        NativeError::Cancelled => "cancelled: the block returned false".into(),
        error => error.to_string(),
    };
    Error::new(class, message)
}

/// `RuntimeError`: the state says no.
pub fn runtime(ruby: &Ruby, message: impl Into<String>) -> Error {
    Error::new(ruby.exception_runtime_error(), message.into())
}

/// `ArgumentError`.
pub fn argument(ruby: &Ruby, message: impl Into<String>) -> Error {
    Error::new(ruby.exception_arg_error(), message.into())
}
