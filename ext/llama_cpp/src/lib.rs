//! The Ruby module `LLaMACpp`: its classes, one file each, over the crate `llama`.

mod batch;
mod constants;
mod context;
mod context_params;
mod grammar;
mod metadata;
mod model;
mod model_kv_override;
mod model_params;
mod module_functions;
mod quantize_params;
mod sampling;
mod support;
mod timings;
mod token_data;
mod token_data_array;

use magnus::{Error, Ruby};

/// Called by `require`, through the `Init_llama_cpp` that the macro writes.
#[magnus::init(name = "llama_cpp")]
fn init(ruby: &Ruby) -> Result<(), Error> {
    // A panic becomes an exception with its text. Whoever reads stderr has nothing to do with the paths of the builder.
    std::panic::set_hook(Box::new(|_| {}));
    let module = ruby.define_module("LLaMACpp")?;
    constants::init(ruby, module)?;
    module_functions::init(ruby, module)?;
    token_data::init(ruby, module)?;
    token_data_array::init(ruby, module)?;
    timings::init(ruby, module)?;
    model_kv_override::init(ruby, module)?;
    model_params::init(ruby, module)?;
    model::init(ruby, module)?;
    quantize_params::init(ruby, module)?;
    context_params::init(ruby, module)?;
    batch::init(ruby, module)?;
    grammar::init(ruby, module)?;
    context::init(ruby, module)?;
    sampling::init(ruby, module)?;
    Ok(())
}
