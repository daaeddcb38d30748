//! Empty: Cargo asks for a target, and this manifest only names where llama.cpp comes from.
