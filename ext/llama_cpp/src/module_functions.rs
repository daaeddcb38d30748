//! The functions of the module itself.

use crate::quantize_params::ModelQuantizeParams;
use crate::support::gvl::{self, Parked};
use crate::support::{args, logs};
use llama::chat_template::{self, Message};
use llama::{backend, quantize};
use magnus::{
    block::Proc, function, prelude::*, typed_data::Obj, Error, RArray, RHash, RModule, RString, Ruby, TryConvert, Value,
};
use std::sync::atomic::Ordering;

fn backend_init(numa: Value) {
    backend::init(args::truth(numa));
}

fn backend_free() {
    backend::free();
}

fn model_quantize(
    ruby: &Ruby,
    input: Value,
    output: Value,
    params: Value,
    progress: Option<Proc>,
) -> Result<(), Error> {
    let input = args::path(ruby, "input_path", input)?;
    let output = args::path(ruby, "output_path", output)?;
    let params = Obj::<ModelQuantizeParams>::try_convert(params)
        .map_err(|_| args::not_a(ruby, "params", "a ModelQuantizeParams", params))?
        .native();
    let parked = Parked::default();
    let result = gvl::release(ruby, |cancel| {
        quantize::quantize(&input, &output, &params, &mut |name, fraction| {
            let wanted = match progress {
                Some(block) => gvl::acquire(|_| report(block, name, fraction, &parked)).unwrap_or(false),
                None => true,
            };
            wanted && !cancel.load(Ordering::Relaxed)
        })
    });
    parked.raise()?;
    result
}

/// Calls the user's block; false when it wants no more, or raised.
fn report(block: Proc, name: &str, fraction: f32, parked: &Parked) -> bool {
    match block.call::<_, Value>((name, f64::from(fraction))) {
        Ok(answer) => !answer.is_kind_of(Ruby::get_with(answer).class_false_class()),
        Err(error) => {
            parked.park(error);
            false
        }
    }
}

fn build_info(ruby: &Ruby) -> Result<RHash, Error> {
    let info = ruby.hash_new();
    info.aset(ruby.to_symbol("llama_cpp"), backend::BUILD)?;
    info.aset(ruby.to_symbol("flags"), ruby.ary_from_iter(backend::FLAGS.split_whitespace()))?;
    Ok(info)
}

fn set_log_threshold(ruby: &Ruby, level: Value) -> Result<(), Error> {
    let level = args::int(ruby, "level", level, 0, 4)?;
    logs::set_threshold(level as u8);
    Ok(())
}

fn usable_cores() -> u32 {
    backend::usable_cores()
}

fn metadata(ruby: &Ruby, path: Value) -> Result<Value, Error> {
    let path = args::path(ruby, "path", path)?;
    crate::metadata::read(ruby, &path)
}

/// Renders a chat template for pairs of role and content.
fn render_chat(ruby: &Ruby, template: Value, messages: Value, bos: Value, eos: Value) -> Result<RString, Error> {
    let template = args::string(ruby, "template", template)?;
    let (bos, eos) = (args::string(ruby, "bos", bos)?, args::string(ruby, "eos", eos)?);
    let array = RArray::from_value(messages).ok_or_else(|| args::not_a(ruby, "messages", "an Array", messages))?;
    let mut native = args::room(ruby, array.len())?;
    for i in 0..array.len() {
        let (role, content): (Value, Value) = array.entry(i as isize)?;
        native.push(Message {
            role: args::string(ruby, "role", role)?,
            content: args::string(ruby, "content", content)?,
        });
    }
    let text = gvl::release(ruby, |cancel| chat_template::render(&template, &native, &bos, &eos, true, cancel))?;
    Ok(args::utf8(ruby, text.as_bytes()))
}

pub fn init(ruby: &Ruby, module: RModule) -> Result<(), Error> {
    let native = module.define_module("Native")?;
    native.define_module_function("backend_init", function!(backend_init, 1))?;
    native.define_module_function("model_quantize", function!(model_quantize, 4))?;
    native.define_module_function("log_threshold=", function!(set_log_threshold, 1))?;
    native.define_module_function("build_info", function!(build_info, 0))?;
    native.define_module_function("usable_cores", function!(usable_cores, 0))?;
    native.define_module_function("render_chat", function!(render_chat, 4))?;
    native.define_module_function("metadata", function!(metadata, 1))?;
    module.funcall::<_, _, Value>("private_constant", (ruby.to_symbol("Native"),))?;
    module.define_module_function("backend_free", function!(backend_free, 0))?;
    module.define_module_function("print_system_info", function!(backend::system_info, 0))?;
    module.define_module_function("time_us", function!(backend::time_us, 0))?;
    module.define_module_function("mmap_supported?", function!(backend::mmap_supported, 0))?;
    module.define_module_function("mlock_supported?", function!(backend::mlock_supported, 0))?;
    module.define_module_function("max_devices", function!(backend::max_devices, 0))?;
    Ok(())
}
