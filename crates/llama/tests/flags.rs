//! The flags that the compilers would get, for machines and libraries that are not here.

#![allow(clippy::unwrap_used)] // clippy does not know helpers of tests as such

#[allow(dead_code)]
#[path = "../build/flags.rs"]
mod flags;

use flags::{Features, Flags, Source, Target};

fn target(arch: &str, os: &str) -> Target {
    Target { arch: arch.into(), os: os.into(), cross: false }
}

fn flags(target: Target, features: Features) -> Flags {
    Flags::new(&target, &features).unwrap()
}

fn defines(flags: &Flags, name: &str) -> bool {
    flags.defines.iter().any(|(define, _)| *define == name)
}

#[test]
fn the_default_is_the_building_machine_as_in_the_makefile() {
    let linux = flags(target("x86_64", "linux"), Features::default());
    assert_eq!(linux.machine, ["-march=native", "-mtune=native"]);
    assert!(defines(&linux, "NDEBUG") && defines(&linux, "_GNU_SOURCE") && defines(&linux, "GGML_USE_K_QUANTS"));
    assert!(linux.libraries.is_empty() && linux.frameworks.is_empty());
    assert_eq!(flags(target("aarch64", "linux"), Features::default()).machine, ["-mcpu=native"]);
}

#[test]
fn portable_is_avx2_or_armv8() {
    let portable = || Features { portable: true, ..Default::default() };
    let x86 = flags(target("x86_64", "linux"), portable());
    for flag in ["-mavx2", "-mfma", "-mf16c"] {
        assert!(x86.machine.contains(&flag), "{flag}");
    }
    assert!(!x86.machine.iter().any(|flag| flag.contains("native") || flag.contains("avx512")));
    assert_eq!(flags(target("aarch64", "linux"), portable()).machine, ["-march=armv8-a"]);
    let cross = Target { cross: true, ..target("x86_64", "linux") };
    assert!(!flags(cross, Features::default()).machine.contains(&"-march=native"));
}

#[test]
fn blas_comes_by_pkg_config_or_by_name() {
    let openblas = flags(target("x86_64", "linux"), Features { openblas: true, ..Default::default() });
    assert!(defines(&openblas, "GGML_USE_OPENBLAS"));
    assert_eq!(openblas.pkg_config, ["openblas"]);
    let blis = flags(target("x86_64", "linux"), Features { blis: true, ..Default::default() });
    assert!(defines(&blis, "GGML_USE_OPENBLAS"));
    assert_eq!(blis.libraries, ["blis"]);
}

#[test]
fn gpus_bring_their_source_their_define_and_their_libraries() {
    let cuda = flags(target("x86_64", "linux"), Features { cublas: true, ..Default::default() });
    assert!(defines(&cuda, "GGML_USE_CUBLAS"));
    assert_eq!(cuda.sources, [Source::Cuda]);
    for library in ["cuda", "cublas", "cudart", "cublasLt"] {
        assert!(cuda.libraries.contains(&library), "{library}");
    }

    let hip = flags(target("x86_64", "linux"), Features { hipblas: true, ..Default::default() });
    assert!(defines(&hip, "GGML_USE_HIPBLAS") && defines(&hip, "GGML_USE_CUBLAS"));
    assert_eq!(
        (hip.sources.as_slice(), hip.libraries.as_slice()),
        (&[Source::Hip][..], &["hipblas", "amdhip64", "rocblas"][..])
    );

    let opencl = flags(target("x86_64", "linux"), Features { clblast: true, ..Default::default() });
    assert!(defines(&opencl, "GGML_USE_CLBLAST"));
    assert_eq!(
        (opencl.sources.as_slice(), opencl.pkg_config.as_slice()),
        (&[Source::OpenCl][..], &["clblast", "OpenCL"][..])
    );

    let metal = flags(target("aarch64", "macos"), Features { metal: true, ..Default::default() });
    assert!(defines(&metal, "GGML_USE_METAL") && defines(&metal, "GGML_USE_ACCELERATE"));
    assert_eq!(metal.sources, [Source::Metal]);
    for framework in ["Foundation", "Metal", "MetalKit", "Accelerate"] {
        assert!(metal.frameworks.contains(&framework), "{framework}");
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let both = Features { cublas: true, clblast: true, ..Default::default() };
    let error = Flags::new(&target("x86_64", "linux"), &both).unwrap_err();
    assert_eq!(error, "cublas and clblast exclude each other: choose one");
    let blas = Features { openblas: true, blis: true, ..Default::default() };
    assert!(Flags::new(&target("x86_64", "linux"), &blas).is_err());
    let metal = Features { metal: true, ..Default::default() };
    assert_eq!(Flags::new(&target("x86_64", "linux"), &metal).unwrap_err(), "metal is macOS' own, the target is linux");
}
