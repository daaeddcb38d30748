//! Chat templates: a conversation as the text that a model was trained on.
//!
//! Models bring their template as Jinja text in their metadata (`tokenizer.chat_template`). It comes from a file that is
//! not to be trusted, so rendering is bounded in time, memory, stack and output.

mod bounds;
mod json;
mod namespace;
mod strings;

use crate::error::{Error, Result};
use minijinja::machinery::{self, CompiledTemplate, TemplateConfig};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Value};
use minijinja::{context, AutoEscape, Environment, ErrorKind};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who speaks: `system`, `user` or `assistant`.
    pub role: String,
    /// What is said.
    pub content: String,
}

/// Work that a template may do: an instruction costs one, and so do some bytes or entries of data. Some hundred
/// milliseconds at the worst, or nearly so.
const FUEL: u64 = 2_000_000;
/// Time that a template may take, whatever it does.
const MAX_TIME: Duration = Duration::from_secs(2);
/// How long a cancellation may go unnoticed.
const WATCH_INTERVAL: Duration = Duration::from_millis(10);
/// Bytes of stack: enough for macros and lists in each other as deep as they may be.
const STACK: usize = 16 << 20;
/// Bytes of output; more than any context holds.
const MAX_OUTPUT: usize = 16 << 20;
/// Bytes of a template's own text.
const MAX_TEMPLATE: usize = 1 << 20;
/// Macros that call each other.
const MAX_DEPTH: usize = 64;

/// Renders `template` for `messages`. With `add_generation_prompt` it ends where the assistant's answer begins.
/// `cancel` ends it when another thread sets it.
///
/// # Errors
///
/// [`Error::Argument`] when the template is no Jinja text, raises an exception, or does more than is allowed;
/// [`Error::Cancelled`]; [`Error::NoMemory`] when there is none for a thread.
///
/// # Examples
///
/// ```
/// use llama::chat_template::{render, Message};
/// use std::sync::atomic::AtomicBool;
/// let template = "{% for m in messages %}<{{ m.role }}>{{ m['content'].strip() }}{% endfor %}\
///                 {% if add_generation_prompt %}<assistant>{% endif %}";
/// let messages = [Message { role: "user".into(), content: " Hi ".into() }];
/// let text = render(template, &messages, "<s>", "</s>", true, &AtomicBool::new(false))?;
/// assert_eq!(text, "<user>Hi<assistant>");
/// # Ok::<(), llama::error::Error>(())
/// ```
pub fn render(
    template: &str,
    messages: &[Message],
    bos: &str,
    eos: &str,
    add_generation_prompt: bool,
    cancel: &AtomicBool,
) -> Result<String> {
    if template.len() > MAX_TEMPLATE {
        return Err(Error::argument(format!(
            "the chat template has {} bytes, {MAX_TEMPLATE} is the limit",
            template.len()
        )));
    }
    let messages: Vec<Value> =
        messages.iter().map(|m| context! { role => m.role.as_str(), content => m.content.as_str() }).collect();
    let root = context! { messages, bos_token => bos, eos_token => eos, add_generation_prompt };
    let template = template.to_owned();
    in_time(cancel, move || {
        evaluate(&template, root).map_err(|e| Error::argument(format!("the chat template fails: {}", describe(&e))))
    })
}

/// Runs `work` on a thread with a stack of known size, and waits for it as long as a template may take. One that takes
/// longer is left to itself until its fuel is used up.
fn in_time(cancel: &AtomicBool, work: impl FnOnce() -> Result<String> + Send + 'static) -> Result<String> {
    let (sender, receiver) = mpsc::channel();
    let end = Instant::now() + MAX_TIME;
    thread::Builder::new()
        .name("chat template".into())
        .stack_size(STACK)
        .spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a fault of minijinja's");
                Err(Error::argument(format!("the chat template fails: {text}")))
            });
            // Nobody receives when the time is over.
            drop(sender.send(result));
        })
        .map_err(|e| Error::NoMemory(format!("no thread for a chat template: {e}")))?;
    loop {
        match receiver.recv_timeout(WATCH_INTERVAL) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) if cancel.load(Ordering::Relaxed) => return Err(Error::Cancelled),
            Err(RecvTimeoutError::Timeout) if Instant::now() < end => {}
            Err(RecvTimeoutError::Timeout) => {
                return Err(Error::argument(format!("the chat template takes more than {} s", MAX_TIME.as_secs())));
            }
            Err(RecvTimeoutError::Disconnected) => return Err(Error::argument("the chat template fails")),
        }
    }
}

fn evaluate(source: &str, root: Value) -> std::result::Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(MAX_DEPTH);
    strings::apply(&mut environment);
    environment.add_function("raise_exception", |message: String| -> std::result::Result<Value, minijinja::Error> {
        Err(minijinja::Error::new(ErrorKind::InvalidOperation, message))
    });
    environment.add_filter("tojson", |value: Value, options: Kwargs| json::to_json(&value, &options));
    // As the programs do it for which templates are written.
    let syntax_config = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?;
    let config = TemplateConfig { syntax_config, default_auto_escape: Arc::new(|_| AutoEscape::None) };
    let mut template = CompiledTemplate::new("template", source, &config)?;
    bounds::apply(&mut environment, &mut template);

    let mut text = String::new();
    let mut output = machinery::make_string_output(&mut text);
    machinery::eval(&environment, &template.instructions, root, &template.blocks, &mut output, AutoEscape::None)?;
    if text.len() > MAX_OUTPUT {
        let message = format!("it renders {} bytes, {MAX_OUTPUT} is the limit", text.len());
        return Err(minijinja::Error::new(ErrorKind::InvalidOperation, message));
    }
    Ok(text)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(template: &str) -> Result<String> {
        let hello = [Message { role: "user".into(), content: "Hello".into() }];
        render(template, &hello, "<s>", "</s>", false, &AtomicBool::new(false))
    }

    fn failure(template: &str) -> String {
        rendered(template).unwrap_err().to_string()
    }

    #[test]
    fn python_methods_work() {
        let template = "{% set m = messages[0] %}{{ m['content'].upper() }}{{ m.content.split('l')[0] }}\
                        {{ 'a' if m.role.startswith('us') else 'b' }}{{ messages | length }}{{ bos_token }}";
        assert_eq!(rendered(template).unwrap(), "HELLOHea1<s>");
    }

    #[test]
    fn a_template_can_raise() {
        let message = failure("{{ raise_exception('roles must alternate') }}");
        assert!(message.contains("roles must alternate"), "{message}");
    }

    #[test]
    fn json_is_pythons() {
        let template = r#"{{ {"a": [1, true, none], "b": "x<\"\n"} | tojson }}"#;
        assert_eq!(rendered(template).unwrap(), r#"{"a": [1, true, null], "b": "x<\"\n"}"#);
    }

    #[test]
    fn plus_adds_what_it_should() {
        for (template, text) in [
            ("{{ 'a' + 'b' + bos_token }}", "ab<s>"),
            ("{{ 1 + 2 }} {{ 1 + 0.5 }}", "3 1.5"),
            ("{{ [1] + [2] + range(2) | list }}", "[1, 2, 0, 1]"),
            ("{{ ([1] * 3 + [2])[3] }}", "2"),
            ("{% macro m(x) %}{{ x + 'b' }}{% endmacro %}{{ m('a') }}", "ab"),
            ("{{ [1, 2] | sum }} {{ [{'a': 1}, {'a': 2}] | sum(attribute='a', start=3) }}", "3 6"),
            ("{{ [[1], [2]] | sum(start=[]) }}", "[1, 2]"),
        ] {
            assert_eq!(rendered(template).unwrap(), text, "{template}");
        }
        assert_eq!(
            failure("{{ 'a' + 1 }}"),
            "the chat template fails: invalid operation: tried to use + operator on unsupported types string and \
             number (in template:1)"
        );
    }

    #[test]
    fn bombs_end_soon() {
        let loops = |body: &str, times: u32| {
            format!("{{% set ns = namespace(x=[], y=[], s='0123456789abcdef') %}}{{% for i in range({times}) %}}{body}{{% endfor %}}")
        };
        for template in [
            loops("{% for j in range(100000) %}{% endfor %}", 100_000),
            loops("{{ 'x' * 100000 }}", 100_000),
            loops("{% set ns.s = ns.s ~ ns.s %}", 64) + "{{ ns.s }}",
            loops("{% set ns.s = ns.s + ns.s %}", 64) + "{{ ns.s }}",
            loops("{% set ns.s = ns.s.replace('0', '00') %}", 64),
            loops("{% set ns.x = ns.x + [1] + ns.x %}", 64) + "{{ ns.x }}",
            loops("{% set ns.x = (ns.x, ns.x) %}", 64) + "{{ ns.x }}",
            loops("{% set ns.x = ns.x + (1, 2) %}", 100_000),
            loops("{% set ns.x = [ns.x] %}", 1_000_000),
            loops("{% set ns.x = [ns.x, ns.x] %}", 64) + "{{ ns.x }}",
            loops("{% set ns.x = [ns.x, ns.x] %}", 64) + "{{ ns.x | tojson }}",
            loops("{% set ns.x = [ns.x, ns.x] %}{% set ns.y = [ns.y, ns.y] %}", 64) + "{{ ns.x == ns.y }}",
            loops("{% set ns.x = [ns.x, ns.x] %}", 64) + "{{ ns.x ~ '' }}{{ ns.x | join }}",
            loops("{% set ns.x = {'a': ns.x, 'b': ns.x} %}", 64) + "{{ {ns.x: 1} }}",
            loops("{% set ns.x = [ns.x] * 2 %}", 64) + "{{ [ns.x] | unique }}",
            loops("{% set ns.x = [1] | batch(2, ns.x) | list %}", 64) + "{{ 1 < ns.x < 2 }}",
            loops("{% set ns.x = dict(a=ns.x, b=ns.x) %}", 64) + "{{ ns.x is eq(ns.x) }}",
            loops("{% set ns.x = ns.x | default([], true) | map('default', ns.x) | list + [ns.x] %}", 64),
            loops("{% set ns.s = ns.s + '0' %}{% set ns.x = ns.x + [ns.s] %}", 100_000) + "{{ ns.x }}",
            "{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}".into(),
            "{% set ns = namespace() %}{% set ns.x = [ns] %}{{ ns }}".into(),
            "{% set ns = namespace() %}{% set other = namespace(x=ns) %}{{ other }}".into(),
            "{{ [[[1] * 10000] * 10000] * 10000 }}".into(),
            "{% macro m(n, x) %}{% if n %}{{ m(n - 1, [x, x]) }}{% else %}{{ x }}{% endif %}{% endmacro %}{{ m(60, 1) }}".into(),
            "{% set x = [] %}".to_owned() + &"{% set x = [x] %}".repeat(30_000) + "{{ x }}",
            loops("{% set ns.x = [ns.x] %}", 50_000) + "{{ ns.x }}",
            "{{ ([[1] * 100000] * 10000) | sum(start=[]) }}".into(),
            "{{ 'x' * 99999999999 }}".into(),
            "{{ (1,) * 99999999999 }}".into(),
            "{{ 'x' | indent(99999999999) }}".into(),
            "{{ '%99999999999s' | format('x') }}".into(),
            "{{ range(99999999999) | list }}".into(),
            "{{ [1] | batch(99999999999, 1) | list }}".into(),
            "{{ 10 ** 99999999999 }}".into(),
            "{{ '{:>99999999999999}'.format(1) }}".into(),
            "{{ '{0:>2147483648}{0:>2147483648}'.format(1) }}".into(),
            "{{ '{:.70000e}'.format(1.5) }}{{ '%.65536e' | format(1.5) }}".into(),
            "{{ '%.65536e' | format(1.5) }}".into(),
            "{% set s = 'a' * 10000000 %}{{ s.strip('b' * 10000000 ~ 'a') }}".into(),
            "{% set s = 'a' * 10000000 %}{{ s | trim('b' * 10000000 ~ 'a') }}".into(),
            // Two of minijinja's own faults.
            "{% for i in range(3) %}{{ loop.cycle() }}{% endfor %}".into(),
            "{% with a=1 %}{% for i in [1] %}{% with b=2 %}{% break %}{% endwith %}{% endfor %}{{ a }}{% endwith %}".into(),
            "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}".into(),
            format!("{{{{ {} }}}}", "(".repeat(100_000)),
            format!("{{{{ {} }}}}", "[".repeat(100_000)),
            "{% if a %}".repeat(10_000),
        ] {
            let start = Instant::now();
            let message = failure(&template);
            assert!(start.elapsed() < MAX_TIME * 3 / 2, "{:?}: {template:.200}", start.elapsed());
            assert!(message.contains("template"), "{message}");
        }
    }

    #[test]
    fn a_long_conversation_is_no_bomb() {
        let said =
            |i| Message { role: if i % 2 == 0 { "user" } else { "assistant" }.into(), content: "x".repeat(1000) };
        let messages: Vec<Message> = (0..1000).map(said).collect();
        let template = "{% set ns = namespace(list=[], last='') %}{% for m in messages %}\
                        {% set ns.list = ns.list + [m] %}{% set ns.last = m.role %}\
                        {% if loop.first or messages[loop.index0 - 1].role != m.role %}\
                        {{ '<' + m.role + '>' + m.content | trim + '\n' }}{% endif %}{% endfor %}{{ ns.list | length }}";
        let text = render(template, &messages, "", "", true, &AtomicBool::new(false)).unwrap();
        assert!(text.ends_with("x\n1000"), "{text:.100}");
        assert_eq!(text.matches("<assistant>").count(), 500);
    }

    #[test]
    fn control_flow_is_what_it_was() {
        for (template, text) in [
            ("{% if false and [1] + [2] %}a{% elif [] or [3] %}b{% else %}c{% endif %}", "b"),
            ("{% for i in [1, 2, 3] if i != 2 %}{{ i }}{% if i > 2 %}{% break %}{% endif %}{% else %}-{% endfor %}", "13"),
            ("{% for i in [] %}a{% else %}{{ 'b' if 1 < 2 < 3 else 'c' }}{% endfor %}", "b"),
            ("{% for i in [[1], [2, [3]]] recursive %}{% if i is iterable %}({{ loop(i) }}){% else %}{{ i }}{% endif %}{% endfor %}", "(1)(2(3))"),
            ("{% macro m(a, b=2) %}{{ a }}{{ b }}{{ caller() }}{% endmacro %}{% call m(1) %}x{% endcall %}{{ m is defined }}", "12xtrue"),
            ("{% set ns = namespace(a=1) %}{% set ns.b %}x{{ ns.a }}{% endset %}{{ ns.b }}{{ ns.c is defined }}", "x1false"),
            ("{% set a, b = (1, [2]) %}{{ a }}{{ b[0] }}{{ (messages[0] | items | list)[1][1] }}", "12Hello"),
            ("{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | join(',') }}", "Hello"),
            ("{{ '{:>4}|{}'.format(12, 2024) }}{{ '%5.1f' | format(2.25) }}{{ '--a-'.strip('-') }}{{ ' b ' | trim }}", "  12|2024  2.2ab"),
            ("{% set x = [3, 1] %}{{ x | sort }}{{ x[::-1] }}{{ 1 in x }}{{ 'a' ~ x }}", "[1, 3][1, 3]truea[3, 1]"),
        ] {
            assert_eq!(rendered(template).unwrap().replace("True", "true").replace("False", "false"), text, "{template}");
        }
    }

    #[test]
    fn another_thread_can_cancel() {
        let cancel = AtomicBool::new(true);
        let slow = "{% for i in range(90000) %}{% endfor %}".repeat(5);
        assert_eq!(render(&slow, &[], "", "", false, &cancel), Err(Error::Cancelled));
    }
}
