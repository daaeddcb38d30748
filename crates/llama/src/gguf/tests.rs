//! Each kind of fault by hand, and many by chance.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod faults;
mod models;
mod mutants;

use std::io::Cursor;
use std::path::Path;

use super::write::Builder;
use super::{read, Gguf, GgufError};
use crate::untrusted::Reader;

/// Reads a header out of memory, as the start of a file of `size` bytes.
fn parse(header: &[u8], size: u64) -> Result<Gguf, GgufError> {
    read::header(Reader::new(Cursor::new(header), size, Path::new("memory")))
}

fn parse_built(builder: &Builder) -> Result<Gguf, GgufError> {
    let (header, size) = builder.header();
    parse(&header, size)
}

fn refusal(result: Result<impl std::fmt::Debug, GgufError>) -> String {
    result.expect_err("a refusal").to_string()
}
