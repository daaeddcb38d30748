//! The bindings of llama.h and of the shim, as bindgen writes them, and nothing else.

#![allow(non_upper_case_globals, non_camel_case_types, missing_docs, dead_code)]
#![allow(clippy::all)]

include!(concat!(env!("OUT_DIR"), "/bindings.rs"));
