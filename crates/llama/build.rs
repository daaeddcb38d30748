//! Compiles the vendored llama.cpp with the shim around it, and binds both.

#[path = "build/bind.rs"]
mod bind;
#[path = "build/compile.rs"]
mod compile;
#[path = "build/flags.rs"]
mod flags;

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let vendor = root.join("../../vendor");
    let source = vendor.join("llama.cpp");
    if !source.join("llama.h").is_file() {
        return Err("vendor/llama.cpp is missing: run `rake vendor` at the top of the repository".into());
    }
    for path in [root.join("build"), root.join("shim"), vendor.join("Cargo.toml"), source.join("llama.cpp")] {
        println!("cargo:rerun-if-changed={}", path.display());
    }
    println!("cargo:rustc-env=LLAMA_CPP_BUILD={}", build_number(&vendor.join("Cargo.toml"))?);

    let flags = flags::Flags::new(&flags::Target::from_env()?, &flags::Features::from_env()?)?;
    println!("cargo:rustc-env=LLAMA_CPP_FLAGS={}", flags.summary());
    compile::run(&flags, &source, &root.join("shim"))?;
    bind::run(&flags, &source, &root.join("shim"))?;
    Ok(())
}

/// The build of llama.cpp, as the pin in vendor/Cargo.toml names it.
fn build_number(manifest: &Path) -> Result<String, Box<dyn Error>> {
    let text = fs::read_to_string(manifest)?;
    text.lines()
        .find_map(|line| line.strip_prefix("build = \"")?.strip_suffix('"'))
        .map(str::to_owned)
        .ok_or_else(|| format!("{}: no line `build = \"…\"`", manifest.display()).into())
}
