//! Calling back into the program in the middle of a call of llama.cpp.

use crate::{log, sys};

/// Runs `f`, which belongs to the user: it may call anything, quantize another model, say, or leave this call standing
/// for ever by switching to another fiber. So nothing that is kept for this thread's current call is left lying about:
/// it is put away meanwhile.
pub(crate) fn outside<T>(f: impl FnOnce() -> T) -> T {
    let _put_away = PutAway::new();
    f()
}

struct PutAway {
    guard: sys::shim_guard_state,
    log: Option<log::Current>,
}

impl PutAway {
    fn new() -> Self {
        // SAFETY: no precondition.
        Self { guard: unsafe { sys::shim_guard_leave() }, log: Some(log::leave()) }
    }
}

impl Drop for PutAway {
    fn drop(&mut self) {
        if let Some(log) = self.log.take() {
            log::enter(log);
        }
        // SAFETY: it is this thread's, and whatever came between has put its own away.
        unsafe { sys::shim_guard_return(self.guard) };
    }
}
