//! llama.cpp in safe Rust: what a binding for a language needs, and nothing of the language.
//!
//! The rooms: [`model`] loads weights and vocabulary, [`context`] holds a KV cache and decodes a [`batch`],
//! [`sampling`] chooses the next token, [`grammar`] says which tokens are allowed. [`gguf`] reads files before
//! llama.cpp trusts them. [`backend`] and [`log`] belong to the process.
//!
//! What is particular to the bundled build of llama.cpp stays behind these modules.

#![warn(missing_docs)]

pub mod backend;
pub mod batch;
mod callback;
pub mod chat_template;
pub mod constants;
pub mod context;
pub mod context_params;
pub mod error;
mod fork;
pub mod gguf;
pub mod grammar;
pub mod log;
mod lora;
pub mod lora_file;
pub mod model;
pub mod quantize;
mod replace;
pub mod sampling;
mod session;
pub mod session_file;
mod sys;
pub mod untrusted;
