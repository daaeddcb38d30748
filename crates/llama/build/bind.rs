//! Binds the names of llama.h and of the shim that the crate uses, and no others.

use crate::flags::Flags;
use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};

pub fn run(flags: &Flags, source: &Path, shim: &Path) -> Result<(), Box<dyn Error>> {
    let mut builder = bindgen::Builder::default()
        .header(shim.join("shim.h").display().to_string())
        .clang_arg(format!("-I{}", source.display()))
        .allowlist_function("shim_.*|llama_guard_(before|after)_fork")
        .allowlist_type("shim_.*")
        .allowlist_function(
            "llama_(model|context|model_quantize)_default_params|llama_backend_(init|free)|llama_(time_us|max_devices)|\
             llama_(mmap|mlock)_supported|llama_print_system_info|llama_log_set|llama_n_(ctx|vocab|ctx_train|embd)|\
             llama_vocab_type|llama_rope_freq_scale_train|llama_model_(desc|size|n_params|meta_val_str)|llama_get_model_tensor|\
             llama_token_(get_text|get_score|get_type|bos|eos|nl|prefix|middle|suffix|eot)|llama_add_(bos|eos)_token|\
             llama_get_(logits|embeddings|timings|kv_cache_token_count|kv_cache_used_cells)|llama_(print|reset)_timings|\
             llama_kv_cache_(clear|seq_rm|seq_shift|seq_div)|llama_set_(rng_seed|n_threads)",
        )
        .allowlist_type("llama_ftype|llama_vocab_type|llama_token_type|llama_rope_scaling_type|llama_split_mode|llama_gretype")
        .allowlist_type("ggml_type|ggml_log_level|llama_model_kv_override_type")
        .allowlist_var("LLAMA_(DEFAULT_SEED|FILE_MAGIC_GGLA|FILE_MAGIC_GGSN|SESSION_MAGIC|SESSION_VERSION|MAX_DEVICES)")
        .prepend_enum_name(false)
        .derive_default(false)
        .layout_tests(false)
        .generate_comments(false);
    for (name, value) in &flags.defines {
        builder = builder.clang_arg(match value {
            Some(value) => format!("-D{name}={value}"),
            None => format!("-D{name}"),
        });
    }
    let path = PathBuf::from(env::var("OUT_DIR")?).join("bindings.rs");
    builder.generate()?.write_to_file(path)?;
    Ok(())
}
