//! Hands the log of llama.cpp to Ruby: to `LLaMACpp.logger` if there is one, else to stderr.

use llama::log::{self, Level, Line};
use magnus::{prelude::*, Error, RModule, Ruby, Value};

/// Shows the lines that have come. The Ruby side drops a logger's errors; what comes through is meant for the thread,
/// like its end.
pub fn flush(ruby: &Ruby) -> Result<(), Error> {
    let lines = log::take();
    if lines.is_empty() {
        return Ok(());
    }
    let module: RModule = ruby.class_object().const_get("LLaMACpp")?;
    for Line { level, text } in lines {
        let level = match level {
            Level::Debug => 0,
            Level::Info => 1,
            Level::Warn => 2,
            Level::Error => 3,
        };
        let _: Value = module.funcall("write_log", (level, text))?;
    }
    Ok(())
}

/// `LLaMACpp.log_threshold = level`: lines below it are dropped where they arise.
pub fn set_threshold(level: u8) {
    log::set_threshold(match level {
        0 => Level::Debug,
        1 => Level::Info,
        2 => Level::Warn,
        _ => Level::Error,
    });
}
