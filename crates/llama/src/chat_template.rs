//! Chat templates: a conversation as the text that a model was trained on.
//!
//! Models bring their template as Jinja text in their metadata (`tokenizer.chat_template`). It comes from a file that is
//! not to be trusted, so rendering is bounded in time, memory and output.

use crate::error::{Error, Result};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Value};
use minijinja::{context, Environment, ErrorKind};

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who speaks: `system`, `user` or `assistant`.
    pub role: String,
    /// What is said.
    pub content: String,
}

/// Work that a template may do: an instruction costs one, and so do some bytes of data. Some hundred milliseconds at
/// the worst.
const FUEL: u64 = 500_000;
/// Bytes of output; more than any context holds.
const MAX_OUTPUT: usize = 16 << 20;
/// Bytes of a template's own text.
const MAX_TEMPLATE: usize = 1 << 20;
/// Macros that call each other.
const MAX_DEPTH: usize = 64;

/// Renders `template` for `messages`. With `add_generation_prompt` it ends where the assistant's answer begins.
///
/// # Errors
///
/// [`Error::Argument`] when the template is no Jinja text, raises an exception, or does more than is allowed.
///
/// # Examples
///
/// ```
/// use llama::chat_template::{render, Message};
/// let template = "{% for m in messages %}<{{ m.role }}>{{ m['content'].strip() }}{% endfor %}\
///                 {% if add_generation_prompt %}<assistant>{% endif %}";
/// let messages = [Message { role: "user".into(), content: " Hi ".into() }];
/// assert_eq!(render(template, &messages, "<s>", "</s>", true)?, "<user>Hi<assistant>");
/// # Ok::<(), llama::error::Error>(())
/// ```
pub fn render(
    template: &str,
    messages: &[Message],
    bos: &str,
    eos: &str,
    add_generation_prompt: bool,
) -> Result<String> {
    if template.len() > MAX_TEMPLATE {
        return Err(Error::argument(format!(
            "the chat template has {} bytes, {MAX_TEMPLATE} is the limit",
            template.len()
        )));
    }
    let failed = |e: minijinja::Error| Error::argument(format!("the chat template fails: {}", describe(&e)));
    let mut environment = Environment::new();
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(MAX_DEPTH);
    // As the programs do it for which templates are written.
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true);
    environment.set_syntax(syntax.build().map_err(failed)?);
    // Templates are written for Python's Jinja, and call the methods of its strings and lists.
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_function("raise_exception", |message: String| -> std::result::Result<Value, minijinja::Error> {
        Err(minijinja::Error::new(ErrorKind::InvalidOperation, message))
    });
    environment.add_filter("tojson", |value: Value, options: Kwargs| to_json(&value, &options));

    let template = environment.template_from_str(template).map_err(failed)?;
    let messages: Vec<Value> =
        messages.iter().map(|m| context! { role => m.role.as_str(), content => m.content.as_str() }).collect();
    let mut output = Bounded(Vec::new());
    template
        .render_captured_to(
            context! { messages, bos_token => bos, eos_token => eos, add_generation_prompt },
            &mut output,
        )
        .map_err(failed)?;
    String::from_utf8(output.0).map_err(|_| Error::argument("the chat template renders text that is not UTF-8"))
}

/// As Python's Jinja does it: without the escapes for HTML that Jinja's own filter adds.
fn to_json(value: &Value, options: &Kwargs) -> std::result::Result<Value, minijinja::Error> {
    let _: Option<Value> = options.get("indent")?;
    let _: Option<bool> = options.get("ensure_ascii")?;
    options.assert_all_used()?;
    let mut text = String::new();
    write_json(value, &mut text, 0)?;
    Ok(Value::from(text))
}

fn write_json(value: &Value, text: &mut String, depth: usize) -> std::result::Result<(), minijinja::Error> {
    use minijinja::value::ValueKind;
    if depth > MAX_DEPTH || text.len() > MAX_OUTPUT {
        return Err(minijinja::Error::new(ErrorKind::InvalidOperation, "the value is too large for JSON"));
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

fn describe(error: &minijinja::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        source = inner.source();
    }
    text
}

/// Output up to a limit.
struct Bounded(Vec<u8>);

impl std::io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_OUTPUT {
            return Err(std::io::Error::other(format!("the chat template renders more than {MAX_OUTPUT} bytes")));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello() -> Vec<Message> {
        vec![Message { role: "user".into(), content: "Hello".into() }]
    }

    #[test]
    fn python_methods_work() {
        let template = "{% set m = messages[0] %}{{ m['content'].upper() }}{{ m.content.split('l')[0] }}\
                        {{ 'a' if m.role.startswith('us') else 'b' }}{{ messages | length }}{{ bos_token }}";
        assert_eq!(render(template, &hello(), "<s>", "</s>", false).unwrap(), "HELLOHea1<s>");
    }

    #[test]
    fn a_template_can_raise() {
        let error = render("{{ raise_exception('roles must alternate') }}", &hello(), "", "", false).unwrap_err();
        assert!(error.to_string().contains("roles must alternate"), "{error}");
    }

    #[test]
    fn json_is_pythons() {
        let template = r#"{{ {"a": [1, true, none], "b": "x<\"\n"} | tojson }}"#;
        assert_eq!(render(template, &hello(), "", "", false).unwrap(), r#"{"a": [1, true, null], "b": "x<\"\n"}"#);
    }
}
