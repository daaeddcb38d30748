//! What all classes share.

pub mod accessors;
pub mod args;
pub mod errors;
pub mod gvl;
pub mod logs;
pub mod memory;
