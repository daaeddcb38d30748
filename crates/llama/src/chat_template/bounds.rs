//! Bounds for what a template makes of lists and maps.
//!
//! minijinja's fuel pays for instructions and for the data that they make. A list that holds another one twice, which
//! holds another one twice, and so on, is cheap to make, but has more entries than the world when it is written out or
//! compared. So each value that an instruction makes is measured as if it were written out, and refused when it is too
//! large: the invariant is that no variable ever holds one.

use super::namespace::{self, Namespace};
use super::MAX_OUTPUT;
use minijinja::machinery::{CompiledTemplate, Instruction, Instructions};
use minijinja::value::{Kwargs, ObjectRepr, Value, ValueKind, ValueOrKwargs};
use minijinja::{context, Environment, Error, ErrorKind, State};

/// Entries of a value, and of all values in it.
const MAX_ENTRIES: usize = 100_000;
/// Lists in lists.
const MAX_NESTING: usize = 100;
/// Entries that are looked at or copied for one unit of fuel.
const ENTRIES_PER_FUEL: usize = 8;
/// Bytes that are copied for one unit of fuel.
const BYTES_PER_FUEL: usize = 64;

/// What the functions are called that the instructions are turned into. No template can name or shadow them.
const ADD: &str = "+";
const MEASURE: &str = "measure()";
const SET_ATTRIBUTE: &str = "set()";

/// Binds the instructions of `template`.
pub(super) fn apply(environment: &mut Environment, template: &mut CompiledTemplate) {
    environment.add_function(ADD, add);
    environment.add_function(MEASURE, |state: &State, value: ValueOrKwargs| measured(state, value.into_value()));
    environment.add_function(SET_ATTRIBUTE, namespace::set);
    environment.add_function("namespace", namespace::new);
    environment.add_filter("sum", sum);
    // Additions of lists by other names, and none of Python's Jinja.
    environment.remove_filter("chain");
    environment.remove_filter("zip");
    rewrite(&mut template.instructions);
}

fn rewrite(instructions: &mut Instructions) {
    let mut result = Instructions::new(instructions.name(), instructions.source());
    let (mut new_places, mut end) = (Vec::new(), 0);
    for i in 0.. {
        // The end is a place to jump to as well.
        new_places.push(end);
        let Some(instruction) = instructions.get(i) else { break };
        let line = instructions.get_line(i).and_then(|line| u16::try_from(line).ok()).unwrap_or(u16::MAX);
        for instruction in bound(instruction) {
            end = result.add_with_line(instruction, line) + 1;
        }
    }
    for i in 0..end {
        if let Some(target) = result.get_mut(i).and_then(target) {
            *target = new_places.get(*target as usize).copied().unwrap_or(*target);
        }
    }
    *instructions = result;
}

/// What an instruction becomes.
fn bound<'source>(instruction: &Instruction<'source>) -> Vec<Instruction<'source>> {
    use Instruction as I;
    let measure = || I::CallFunction(MEASURE, Some(1));
    match instruction {
        // minijinja adds lists lazily, and after some dozens of additions all at once without fuel.
        I::Add => vec![I::CallFunction(ADD, Some(2))],
        I::SetAttr(name) => {
            vec![I::LoadConst(Value::from(*name)), I::CallFunction(SET_ATTRIBUTE, Some(3)), I::DiscardTop]
        }
        // They make values.
        I::BuildList(_)
        | I::BuildTuple(_)
        | I::BuildMap(_)
        | I::Mul
        | I::Slice
        | I::CallFunction(..)
        | I::CallMethod(..)
        | I::CallObject(_) => vec![instruction.clone(), measure()],
        // And these look at all of one: measuring pays for it.
        I::ApplyFilter(..) => vec![measure(), instruction.clone(), measure()],
        I::PerformTest(..) | I::Eq | I::Ne | I::Gt | I::Gte | I::Lt | I::Lte | I::In | I::CompareAndPreserve(_) => {
            vec![measure(), instruction.clone()]
        }
        _ => vec![instruction.clone()],
    }
}

/// Where an instruction jumps to.
fn target<'a>(instruction: &'a mut Instruction<'_>) -> Option<&'a mut u32> {
    use Instruction as I;
    match instruction {
        I::Iterate(target)
        | I::Jump(target)
        | I::JumpIfFalse(target)
        | I::JumpIfFalseOrPop(target)
        | I::JumpIfTrueOrPop(target)
        | I::BuildMacro(_, target, _) => Some(target),
        _ => None,
    }
}

/// Refuses a value that is too large when it is written out, and pays for looking at it.
fn measured(state: &State, value: Value) -> Result<Value, Error> {
    if value.as_object().is_none() || value.downcast_object_ref::<Namespace>().is_some() {
        return Ok(value);
    }
    let mut size = Size::default();
    let result = size.add(&value, 0);
    state.consume_fuel((size.entries / ENTRIES_PER_FUEL) as u64)?;
    result.map(|()| value)
}

#[derive(Default)]
struct Size {
    entries: usize,
    bytes: usize,
}

impl Size {
    fn add(&mut self, value: &Value, nesting: usize) -> Result<(), Error> {
        self.entries += 1;
        self.bytes += value.as_str().map_or(0, str::len);
        if self.entries > MAX_ENTRIES || self.bytes > MAX_OUTPUT {
            return Err(failed(format!("a list or map of more than {MAX_ENTRIES} entries or {MAX_OUTPUT} bytes")));
        }
        if nesting > MAX_NESTING {
            return Err(failed(format!("lists or maps in each other, more than {MAX_NESTING} deep")));
        }
        if value.downcast_object_ref::<Namespace>().is_some() {
            return Err(failed("a namespace cannot be put into a list or map"));
        }
        let Some(object) = value.as_object() else { return Ok(()) };
        match object.repr() {
            ObjectRepr::Seq | ObjectRepr::Iterable => {
                object.try_iter().into_iter().flatten().try_for_each(|entry| self.add(&entry, nesting + 1))
            }
            ObjectRepr::Map => object.try_iter_pairs().into_iter().flatten().try_for_each(|(key, entry)| {
                self.add(&key, nesting + 1)?;
                self.add(&entry, nesting + 1)
            }),
            _ => Ok(()),
        }
    }
}

fn add(state: &State, left: Value, right: Value) -> Result<Value, Error> {
    if let (Some(a), Some(b)) = (left.as_str(), right.as_str()) {
        state.consume_fuel(((a.len() + b.len()) / BYTES_PER_FUEL) as u64)?;
        return Ok(Value::from([a, b].concat()));
    }
    if !is_list(&left) || !is_list(&right) {
        return add_others(state, left, right);
    }
    let entries: Vec<Value> = left.try_iter()?.chain(right.try_iter()?).take(MAX_ENTRIES + 1).collect();
    measured(state, Value::from(entries))
}

fn is_list(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable)
}

/// Numbers, and what cannot be added, are as minijinja has them.
fn add_others(state: &State, left: Value, right: Value) -> Result<Value, Error> {
    let sum = state.env().compile_expression("left + right")?;
    // The place in the template is the caller's to say.
    sum.eval(context! { left, right }).map_err(|e| failed(e.detail().unwrap_or("the two cannot be added").to_owned()))
}

fn sum(
    state: &State,
    values: Value,
    attribute: Option<&str>,
    start: Option<Value>,
    named: Kwargs,
) -> Result<Value, Error> {
    let attribute = attribute.map_or_else(|| named.get("attribute"), |name| Ok(Some(name)))?;
    let start = start.map_or_else(|| named.get::<Option<Value>>("start"), |start| Ok(Some(start)))?;
    named.assert_all_used()?;
    let mut total = start.unwrap_or_else(|| Value::from(0));
    for value in values.try_iter()? {
        let value = attribute.map_or(Ok(value.clone()), |name| value.get_attr(name))?;
        state.consume_fuel(1)?;
        total = add(state, total, value)?;
    }
    Ok(total)
}

pub(super) fn failed(message: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}
