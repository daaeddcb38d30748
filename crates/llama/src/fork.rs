//! What a forked process inherits. Only the thread that forks lives on in it; a lock that another one held at that
//! moment would stay locked. So the locks that everybody shares are taken before, and let go in both processes after.

use crate::{log, sys};
use std::sync::Once;

/// Sees to it that every fork from now on leaves usable locks behind.
pub(crate) fn prepare() {
    static ONCE: Once = Once::new();
    // SAFETY: the functions live as long as the process.
    ONCE.call_once(|| unsafe {
        libc::pthread_atfork(Some(before), Some(after), Some(after));
    });
}

unsafe extern "C" fn before() {
    log::hold();
    // SAFETY: `after` ends it, on this thread.
    unsafe { sys::llama_guard_before_fork() };
}

unsafe extern "C" fn after() {
    // SAFETY: `before` began it.
    unsafe { sys::llama_guard_after_fork() };
    log::release();
}
