//! Compiles llama.cpp, the guard and the shim into one static library.

use crate::flags::{Flags, Source};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

pub fn run(flags: &Flags, source: &Path, shim: &Path) -> Result<(), Box<dyn Error>> {
    let libs = pkg_config(flags)?;

    // The shim is linked before what it calls. It takes as long to compile as all the rest: the two go side by side.
    thread::scope(|scope| {
        let cpp = scope.spawn(|| {
            let mut build = cpp(flags, source, shim, &libs);
            build.files(["guard.cpp", "shim.cpp"].map(|file| shim.join(file)));
            build.try_compile_intermediates()
        });
        let ggml = ggml(flags, source, shim, &libs)?;
        let objects = cpp.join().map_err(|_| "the thread that compiles the shim has panicked")??;
        cc::Build::new().cpp(true).objects(objects).try_compile("llama_shim")?;
        cc::Build::new().cpp(true).objects(ggml).try_compile("ggml")?;
        Ok::<_, Box<dyn Error>>(())
    })?;
    link(flags, &libs);
    Ok(())
}

/// Compiles ggml and the back ends that are asked for.
fn ggml(flags: &Flags, source: &Path, shim: &Path, libs: &Libraries) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut ggml = c(flags, source, shim, libs);
    ggml.files(["ggml-quants.c", "ggml-alloc.c"].map(|file| source.join(file))).file(shim.join("ggml_unit.c"));
    if flags.sources.contains(&Source::Metal) {
        ggml.file(source.join("ggml-metal.m"));
    }
    let mut objects = ggml.try_compile_intermediates()?;

    // The graph is computed by way of the guard: that is decided file by file.
    let mut backend = c(flags, source, shim, libs);
    backend.define("LLAMA_GUARD_COMPUTE", None).file(source.join("ggml-backend.c"));
    objects.extend(backend.try_compile_intermediates()?);

    for file in &flags.sources {
        match file {
            Source::Metal => {}
            Source::OpenCl => {
                let mut build = cpp(flags, source, shim, libs);
                build.file(source.join("ggml-opencl.cpp"));
                objects.extend(build.try_compile_intermediates()?);
            }
            Source::Cuda => objects.extend(cuda(flags, source)?),
            Source::Hip => objects.extend(hip(flags, source)?),
        }
    }
    Ok(objects)
}

/// What both languages share.
fn common(flags: &Flags, source: &Path, shim: &Path, libs: &Libraries) -> cc::Build {
    let mut build = cc::Build::new();
    build
        // Whatever Cargo's profile is: an engine that is not optimised makes every test crawl.
        .opt_level(3)
        .debug(debug_wanted())
        .pic(true)
        .warnings(false)
        .include(source)
        .include(shim)
        .flag("-include")
        .flag(shim.join("guard.h").display().to_string())
        .flag("-fvisibility=hidden");
    for (name, value) in &flags.defines {
        build.define(name, *value);
    }
    for flag in flags.common.iter().copied() {
        build.flag(flag);
    }
    for path in flags.include.iter().map(Path::new).chain(libs.include.iter().map(Path::new)) {
        if path.is_dir() {
            build.include(path);
        }
    }
    build
}

fn c(flags: &Flags, source: &Path, shim: &Path, libs: &Libraries) -> cc::Build {
    let mut build = common(flags, source, shim, libs);
    // A failed assertion unwinds through C, too.
    build.std("c11").flag("-fexceptions");
    for flag in &flags.machine {
        build.flag(flag);
    }
    build
}

fn cpp(flags: &Flags, source: &Path, shim: &Path, libs: &Libraries) -> cc::Build {
    let mut build = common(flags, source, shim, libs);
    build.cpp(true).std("c++11");
    build
}

fn cuda(flags: &Flags, source: &Path) -> Result<Vec<PathBuf>, cc::Error> {
    let mut build = cc::Build::new();
    build.cuda(true).std("c++11").opt_level(3).pic(true).file(source.join("ggml-cuda.cu")).include(source);
    for (name, value) in &flags.defines {
        build.define(name, *value);
    }
    for flag in ["-use_fast_math", "--forward-unknown-to-host-compiler", "-arch=native", "-Wno-pedantic"] {
        build.flag(flag);
    }
    for (name, value) in [
        ("GGML_CUDA_DMMV_X", "32"),
        ("GGML_CUDA_MMV_Y", "1"),
        ("K_QUANTS_PER_ITERATION", "2"),
        ("GGML_CUDA_PEER_MAX_BATCH_SIZE", "128"),
    ] {
        build.define(name, value);
    }
    build.try_compile_intermediates()
}

fn hip(flags: &Flags, source: &Path) -> Result<Vec<PathBuf>, cc::Error> {
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .compiler(std::env::var("HIPCC").unwrap_or_else(|_| "/opt/rocm/bin/hipcc".into()))
        .std("c++11")
        .opt_level(3)
        .pic(true)
        .flag("-x")
        .flag("hip")
        .file(source.join("ggml-cuda.cu"))
        .include(source);
    for (name, value) in &flags.defines {
        build.define(name, *value);
    }
    for (name, value) in [("GGML_CUDA_DMMV_X", "32"), ("GGML_CUDA_MMV_Y", "1"), ("K_QUANTS_PER_ITERATION", "2")] {
        build.define(name, value);
    }
    build.try_compile_intermediates()
}

fn link(flags: &Flags, libs: &Libraries) {
    for path in flags.search.iter().filter(|path| Path::new(path).is_dir()) {
        println!("cargo:rustc-link-search=native={path}");
    }
    for path in &libs.search {
        println!("cargo:rustc-link-search=native={path}");
    }
    for name in flags.libraries.iter().copied().chain(libs.names.iter().map(String::as_str)) {
        println!("cargo:rustc-link-lib={name}");
    }
    for name in &flags.frameworks {
        println!("cargo:rustc-link-lib=framework={name}");
    }
}

/// What pkg-config knows of the libraries that are asked for.
#[derive(Default)]
struct Libraries {
    include: Vec<String>,
    search: Vec<String>,
    names: Vec<String>,
}

fn pkg_config(flags: &Flags) -> Result<Libraries, Box<dyn Error>> {
    let mut libs = Libraries::default();
    for package in &flags.pkg_config {
        let output = Command::new("pkg-config").args(["--cflags", "--libs", package]).output();
        match output {
            Ok(output) if output.status.success() => {
                for flag in String::from_utf8(output.stdout)?.split_whitespace() {
                    match flag.split_at(flag.len().min(2)) {
                        ("-I", path) => libs.include.push(path.into()),
                        ("-L", path) => libs.search.push(path.into()),
                        ("-l", name) => libs.names.push(name.into()),
                        _ => {}
                    }
                }
            }
            _ => {
                return Err(format!(
                    "pkg-config does not find {package}: install its development package (and pkg-config), or build without it"
                )
                .into())
            }
        }
    }
    Ok(libs)
}

/// Cargo says so for a profile with debug information, like `debugging`.
fn debug_wanted() -> bool {
    std::env::var("DEBUG").is_ok_and(|debug| debug != "false" && debug != "0")
}
