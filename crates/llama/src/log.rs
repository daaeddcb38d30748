//! What llama.cpp logs: collected line by line, to be fetched by whoever wants to show it.
//!
//! llama.cpp writes its log in pieces, from any thread, and without a thought for who is listening. The pieces become
//! whole lines here; those at or above the threshold wait in a queue until [`take`] fetches them. Within
//! [`capture`], errors go into the caller's message instead.

use crate::sys;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ffi::{c_char, CStr};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// How serious a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// For those who look into llama.cpp itself.
    Debug = 0,
    /// What was loaded, how large it is.
    Info = 1,
    /// Something that may not be what was meant.
    Warn = 2,
    /// Why a call failed.
    Error = 3,
}

/// A line of the log, without its newline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// How serious it is.
    pub level: Level,
    /// The text; what is not UTF-8 in it is replaced.
    pub text: String,
}

/// Lines kept for a reader who does not come; the oldest give way.
const MAX_LINES: usize = 10_000;

static QUEUE: Mutex<VecDeque<Line>> = Mutex::new(VecDeque::new());
static THRESHOLD: AtomicU8 = AtomicU8::new(Level::Warn as u8);

/// What [`observe`] was given.
type Observer = *mut dyn FnMut(&str) -> bool;

/// The beginning of a line, until its newline comes.
struct Partial {
    level: Level,
    text: String,
}

thread_local! {
    static PARTIAL: RefCell<Partial> = const { RefCell::new(Partial { level: Level::Info, text: String::new() }) };
    static CAPTURED: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
    static OBSERVER: Cell<Option<Observer>> = const { Cell::new(None) };
}

/// Directs llama.cpp's log here. Once is enough; more does no harm.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    // SAFETY: the callback is a function for the life of the process.
    ONCE.call_once(|| unsafe { sys::shim_log_set(Some(receive)) });
}

/// Lines below `level` are dropped where they arise.
pub fn set_threshold(level: Level) {
    THRESHOLD.store(level as u8, Ordering::Relaxed);
}

/// Takes the lines that have come so far.
pub fn take() -> Vec<Line> {
    let mut queue = QUEUE.lock().unwrap_or_else(PoisonError::into_inner);
    queue.drain(..).collect()
}

/// Runs `f` and returns, beside its result, the errors that llama.cpp logged on this thread meanwhile.
pub(crate) fn capture<T>(f: impl FnOnce() -> T) -> (T, Vec<String>) {
    let outer = CAPTURED.with(|c| c.replace(Some(Vec::new())));
    let result = f();
    finish_line();
    let captured = CAPTURED.with(|c| c.replace(outer));
    (result, captured.unwrap_or_default())
}

/// What is kept for the call that is under way on this thread.
pub(crate) struct Current {
    captured: Option<Vec<String>>,
    observer: Option<Observer>,
}

/// Puts it away.
pub(crate) fn leave() -> Current {
    Current { captured: CAPTURED.take(), observer: OBSERVER.take() }
}

/// Puts it back.
pub(crate) fn enter(current: Current) {
    CAPTURED.set(current.captured);
    OBSERVER.set(current.observer);
}

thread_local! {
    static HELD: RefCell<Option<MutexGuard<'static, VecDeque<Line>>>> = const { RefCell::new(None) };
}

/// Keeps all threads from writing lines, until [`release`] on this thread.
pub(crate) fn hold() {
    HELD.set(Some(QUEUE.lock().unwrap_or_else(PoisonError::into_inner)));
}

/// Ends [`hold`].
pub(crate) fn release() {
    HELD.set(None);
}

/// Runs `f`; `observer` sees each piece of text that llama.cpp logs on this thread meanwhile, and ends the call of the
/// shim by returning false.
pub(crate) fn observe<T>(observer: &mut dyn FnMut(&str) -> bool, f: impl FnOnce() -> T) -> T {
    // SAFETY: only the lifetime is dropped from the type; the pointer is taken back before this function returns.
    let pointer = unsafe { std::mem::transmute::<&mut dyn FnMut(&str) -> bool, Observer>(observer) };
    let outer = OBSERVER.replace(Some(pointer));
    let result = f();
    OBSERVER.set(outer);
    result
}

extern "C" fn receive(level: i32, text: *const c_char) -> bool {
    // SAFETY: llama.cpp passes a NUL-terminated string that lives for this call.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    append(Level::from_ggml(level), &text);
    // SAFETY: `observe` holds the observer's reference as long as the pointer is set, and does nothing with it but wait.
    OBSERVER.get().is_none_or(|observer| unsafe { (*observer)(&text) })
}

impl Level {
    fn from_ggml(level: i32) -> Self {
        match u32::try_from(level) {
            Ok(sys::GGML_LOG_LEVEL_ERROR) => Self::Error,
            Ok(sys::GGML_LOG_LEVEL_WARN) => Self::Warn,
            Ok(sys::GGML_LOG_LEVEL_INFO) => Self::Info,
            _ => Self::Debug,
        }
    }
}

fn append(level: Level, text: &str) {
    // A warning in the middle of a line that is none is a line of its own: it would be dropped with the other.
    if PARTIAL.with_borrow(|partial| !partial.text.is_empty() && partial.level != level) {
        finish_line();
    }
    for part in text.split_inclusive('\n') {
        PARTIAL.with_borrow_mut(|partial| {
            if partial.text.is_empty() {
                partial.level = level;
            }
            partial.text.push_str(part.trim_end_matches('\n'));
        });
        if part.ends_with('\n') {
            finish_line();
        }
    }
}

fn finish_line() {
    let (level, text) = PARTIAL.with_borrow_mut(|partial| (partial.level, std::mem::take(&mut partial.text)));
    if text.trim().is_empty() {
        return;
    }
    if level == Level::Error {
        let captured = CAPTURED.with_borrow_mut(|captured| captured.as_mut().map(|lines| lines.push(text.clone())));
        if captured.is_some() {
            return;
        }
    }
    if level as u8 >= THRESHOLD.load(Ordering::Relaxed) {
        let mut queue = QUEUE.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.len() >= MAX_LINES {
            queue.pop_front();
        }
        queue.push_back(Line { level, text });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_become_lines_and_errors_are_captured() {
        let ((), errors) = capture(|| {
            append(Level::Error, "cannot ");
            append(Level::Error, "load\nnext: ");
            append(Level::Error, "reason");
        });
        assert_eq!(errors, ["cannot load", "next: reason"]);
    }

    #[test]
    fn a_line_within_another_keeps_its_level() {
        let ((), errors) = capture(|| {
            append(Level::Info, "[   1/  20] ");
            append(Level::Error, "no room\n");
            append(Level::Info, "done\n");
        });
        assert_eq!(errors, ["no room"]);
    }
}
