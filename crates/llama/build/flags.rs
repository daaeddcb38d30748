//! Which flags the compilers get: a function of the target and of the features, so that a test can ask for any.

use std::env;
use std::error::Error;

/// What is built for. From Cargo's own variables, since a build script runs on the building machine.
#[derive(Clone, Debug)]
pub struct Target {
    pub arch: String,
    pub os: String,
    pub cross: bool,
}

/// The features of the crate that change how llama.cpp is compiled.
#[derive(Clone, Debug, Default)]
pub struct Features {
    pub portable: bool,
    pub openblas: bool,
    pub blis: bool,
    pub cublas: bool,
    pub metal: bool,
    pub clblast: bool,
    pub hipblas: bool,
    pub asan: bool,
}

/// The compilers' and the linker's flags.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// For C and C++, like `GGML_USE_OPENBLAS`.
    pub defines: Vec<(&'static str, Option<&'static str>)>,
    /// For C only: ggml's kernels. The C++ of llama.cpp gets none, so that its sampling computes to the same bit
    /// wherever it is compiled.
    pub machine: Vec<&'static str>,
    pub common: Vec<&'static str>,
    pub include: Vec<&'static str>,
    pub sources: Vec<Source>,
    pub libraries: Vec<&'static str>,
    pub frameworks: Vec<&'static str>,
    pub search: Vec<&'static str>,
    pub pkg_config: Vec<&'static str>,
}

/// A back end's own source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Cuda,
    Hip,
    Metal,
    OpenCl,
}

impl Target {
    pub fn from_env() -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            arch: env::var("CARGO_CFG_TARGET_ARCH")?,
            os: env::var("CARGO_CFG_TARGET_OS")?,
            cross: env::var("HOST")? != env::var("TARGET")?,
        })
    }
}

impl Features {
    pub fn from_env() -> Result<Self, Box<dyn Error>> {
        let on = |name: &str| env::var_os(format!("CARGO_FEATURE_{name}")).is_some();
        Ok(Self {
            portable: on("PORTABLE"),
            openblas: on("OPENBLAS"),
            blis: on("BLIS"),
            cublas: on("CUBLAS"),
            metal: on("METAL"),
            clblast: on("CLBLAST"),
            hipblas: on("HIPBLAS"),
            asan: on("ASAN"),
        })
    }
}

impl Flags {
    pub fn new(target: &Target, features: &Features) -> Result<Self, String> {
        let gpus = [
            ("cublas", features.cublas),
            ("metal", features.metal),
            ("clblast", features.clblast),
            ("hipblas", features.hipblas),
        ];
        let chosen: Vec<_> = gpus.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect();
        if chosen.len() > 1 {
            return Err(format!("{} exclude each other: choose one", chosen.join(" and ")));
        }
        if features.openblas && features.blis {
            return Err("openblas and blis exclude each other: choose one".into());
        }
        if features.metal && target.os != "macos" {
            return Err(format!("metal is macOS' own, the target is {}", target.os));
        }

        let mut flags = Self::default();
        flags.defines.push(("NDEBUG", None));
        flags.defines.push(("GGML_USE_K_QUANTS", None));
        flags.defines.push(("_XOPEN_SOURCE", Some("600")));
        match target.os.as_str() {
            "linux" | "android" => flags.defines.push(("_GNU_SOURCE", None)),
            "macos" | "ios" => flags.defines.push(("_DARWIN_C_SOURCE", None)),
            "freebsd" | "dragonfly" => flags.defines.push(("__BSD_VISIBLE", None)),
            "netbsd" => flags.defines.push(("_NETBSD_SOURCE", None)),
            "openbsd" => flags.defines.push(("_BSD_SOURCE", None)),
            _ => {}
        }
        flags.common.push("-pthread");
        flags.machine_flags(target, features.portable);
        flags.back_ends(target, features);
        if features.asan {
            flags.common.extend(["-fsanitize=address", "-fno-omit-frame-pointer", "-g"]);
        }
        Ok(flags)
    }

    /// A factor of ten lies in these.
    fn machine_flags(&mut self, target: &Target, portable: bool) {
        // Compiling for another machine, "native" would mean the wrong one.
        let native = !portable && !target.cross;
        match target.arch.as_str() {
            "x86_64" if native => self.machine.extend(["-march=native", "-mtune=native"]),
            "x86_64" => self.machine.extend(["-mavx", "-mavx2", "-mfma", "-mf16c", "-msse3", "-mssse3", "-mbmi2"]),
            "aarch64" if native => self.machine.push("-mcpu=native"),
            "aarch64" => self.machine.push("-march=armv8-a"),
            _ => {}
        }
    }

    fn back_ends(&mut self, target: &Target, features: &Features) {
        if features.openblas {
            self.defines.push(("GGML_USE_OPENBLAS", None));
            self.pkg_config.push("openblas");
        }
        if features.blis {
            self.defines.push(("GGML_USE_OPENBLAS", None));
            self.include.extend(["/usr/local/include/blis", "/usr/include/blis"]);
            self.search.push("/usr/local/lib");
            self.libraries.push("blis");
        }
        if features.cublas {
            self.defines.push(("GGML_USE_CUBLAS", None));
            self.include.extend(["/usr/local/cuda/include", "/opt/cuda/include"]);
            self.search.extend(["/usr/local/cuda/lib64", "/opt/cuda/lib64", "/usr/lib/wsl/lib"]);
            self.libraries.extend(["cuda", "cublas", "culibos", "cudart", "cublasLt", "pthread", "dl", "rt"]);
            self.sources.push(Source::Cuda);
        }
        if features.hipblas {
            self.defines.extend([("GGML_USE_HIPBLAS", None), ("GGML_USE_CUBLAS", None)]);
            self.include.push("/opt/rocm/include");
            self.search.push("/opt/rocm/lib");
            self.libraries.extend(["hipblas", "amdhip64", "rocblas"]);
            self.sources.push(Source::Hip);
        }
        if features.clblast {
            self.defines.push(("GGML_USE_CLBLAST", None));
            if target.os == "macos" {
                self.libraries.push("clblast");
                self.frameworks.push("OpenCL");
            } else {
                self.pkg_config.extend(["clblast", "OpenCL"]);
            }
            self.sources.push(Source::OpenCl);
        }
        if features.metal {
            self.defines.push(("GGML_USE_METAL", None));
            self.frameworks.extend(["Foundation", "Metal", "MetalKit"]);
            self.sources.push(Source::Metal);
        }
        if target.os == "macos" {
            self.defines.extend([
                ("GGML_USE_ACCELERATE", None),
                ("ACCELERATE_NEW_LAPACK", None),
                ("ACCELERATE_LAPACK_ILP64", None),
            ]);
            self.frameworks.push("Accelerate");
        }
    }

    /// What is worth telling a user: the machine's flags and the back ends.
    pub fn summary(&self) -> String {
        let back_ends = self.defines.iter().map(|(name, _)| *name).filter(|name| name.starts_with("GGML_USE_"));
        self.machine
            .iter()
            .copied()
            .chain(back_ends.map(|name| &name["GGML_USE_".len()..]))
            .collect::<Vec<_>>()
            .join(" ")
    }
}
