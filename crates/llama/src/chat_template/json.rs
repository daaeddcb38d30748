//! JSON as the templates write it.

use super::{MAX_DEPTH, MAX_OUTPUT};
use minijinja::value::{Kwargs, Value, ValueKind};
use minijinja::{Error, ErrorKind};

/// As Python's Jinja does it: without the escapes for HTML that Jinja's own filter adds.
pub(super) fn to_json(value: &Value, options: &Kwargs) -> Result<Value, Error> {
    let _: Option<Value> = options.get("indent")?;
    let _: Option<bool> = options.get("ensure_ascii")?;
    options.assert_all_used()?;
    let mut text = String::new();
    write_json(value, &mut text, 0)?;
    Ok(Value::from(text))
}

fn write_json(value: &Value, text: &mut String, depth: usize) -> Result<(), Error> {
    if depth > MAX_DEPTH || text.len() > MAX_OUTPUT {
        return Err(Error::new(ErrorKind::InvalidOperation, "the value is too large for JSON"));
    }
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => text.push_str("null"),
        ValueKind::Bool | ValueKind::Number => text.push_str(&value.to_string().to_lowercase()),
        ValueKind::Seq | ValueKind::Iterable => {
            text.push('[');
            for (i, item) in value.try_iter()?.enumerate() {
                if i > 0 {
                    text.push_str(", ");
                }
                write_json(&item, text, depth + 1)?;
            }
            text.push(']');
        }
        ValueKind::Map => {
            text.push('{');
            for (i, key) in value.try_iter()?.enumerate() {
                if i > 0 {
                    text.push_str(", ");
                }
                write_string(&key.to_string(), text);
                text.push_str(": ");
                write_json(&value.get_item(&key)?, text, depth + 1)?;
            }
            text.push('}');
        }
        _ => write_string(&value.to_string(), text),
    }
    Ok(())
}

fn write_string(string: &str, text: &mut String) {
    text.push('"');
    for c in string.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            c if (c as u32) < 0x20 => text.push_str(&format!("\\u{:04x}", c as u32)),
            c => text.push(c),
        }
    }
    text.push('"');
}
