//! The constants of the module: numbers of llama.cpp's enumerations, and a few strings.

use llama::constants as native;
use magnus::{prelude::*, Error, RModule, Ruby};

pub fn init(ruby: &Ruby, module: RModule) -> Result<(), Error> {
    for &(name, value) in native::INTEGERS {
        module.const_set(name, value)?;
    }
    // The C++ gem has these as the text of their macros.
    for (name, value) in [
        ("LLAMA_DEFAULT_SEED", format!("{:#x}", native::DEFAULT_SEED)),
        ("LLAMA_DEFALUT_SEED", format!("{:#x}", native::DEFAULT_SEED)),
        ("LLAMA_FILE_MAGIC_GGLA", format!("{:#x}", native::FILE_MAGIC_GGLA)),
        ("LLAMA_FILE_MAGIC_GGSN", format!("{:#x}", native::FILE_MAGIC_GGSN)),
        ("LLAMA_SESSION_MAGIC", format!("{:#x}", native::SESSION_MAGIC)),
        ("LLAMA_SESSION_VERSION", native::SESSION_VERSION.to_string()),
        ("LLAMA_CPP_VERSION", llama::backend::BUILD.to_string()),
    ] {
        let string = ruby.str_new(&value);
        string.freeze();
        module.const_set(name, string)?;
    }
    Ok(())
}
