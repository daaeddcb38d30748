//! Work without the lock of the VM: the one place where it is given away.
//!
//! Other threads of Ruby run meanwhile. An interrupt (Ctrl-C, `Thread#kill`, `Timeout`) sets a flag at which the work
//! stops as soon as it can; then Ruby gets to raise what it has to raise, in Rust's own way, so that destructors run.

use super::{errors, logs};
use llama::error::Error as NativeError;
use magnus::{Error, Ruby};
use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How often work is begun anew after a signal that raised nothing.
const MAX_RESTARTS: u32 = 3;

/// Runs `work` without the lock. It gets a flag that an interrupt sets, and should return
/// [`NativeError::Cancelled`] then; it is called again if the interrupt turns out to be none that raises.
///
/// What `work` touches must be its own, or marked as in use: other threads run.
pub fn release<T>(ruby: &Ruby, mut work: impl FnMut(&AtomicBool) -> Result<T, NativeError>) -> Result<T, Error> {
    // Signals that only wake the thread up (a profiler's, a child's end) must not keep the work from ever ending:
    // after some of them it runs to its end.
    let mut restarts = MAX_RESTARTS;
    let flag = Flag::take();
    let cancel = flag.0;
    loop {
        cancel.store(false, Ordering::Relaxed);
        let result = without_lock(|| work(cancel), (restarts > 0).then_some(cancel));
        logs::flush(ruby)?;
        match result {
            // An interrupt was pending: nothing was done yet.
            None => ruby.thread_check_ints()?,
            Some(Err(NativeError::Cancelled)) if cancel.load(Ordering::Relaxed) => {
                ruby.thread_check_ints()?;
                restarts -= 1;
            }
            Some(result) => {
                ruby.thread_check_ints()?;
                return result.map_err(|e| errors::to_ruby(ruby, e));
            }
        }
    }
}

/// A cancel flag. It is never freed, but used again: Ruby's handler of signals may still have its address when the call
/// is over.
struct Flag(&'static AtomicBool);

static FLAGS: Mutex<Vec<&'static AtomicBool>> = Mutex::new(Vec::new());

impl Flag {
    fn take() -> Self {
        let flag = FLAGS.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Self(flag.unwrap_or_else(|| Box::leak(Box::new(AtomicBool::new(false)))))
    }
}

impl Drop for Flag {
    fn drop(&mut self) {
        FLAGS.lock().unwrap_or_else(PoisonError::into_inner).push(self.0);
    }
}

/// A call on its way through C.
struct Call<F, T> {
    f: Option<F>,
    result: Option<thread::Result<T>>,
}

impl<F: FnOnce() -> T, T> Call<F, T> {
    fn new(f: F) -> Self {
        Self { f: Some(f), result: None }
    }

    /// A panic must not unwind through C.
    unsafe extern "C" fn run(data: *mut c_void) -> *mut c_void {
        // SAFETY: `data` is the `Call` of the function that passed it, which waits for this one.
        let call = unsafe { &mut *data.cast::<Self>() };
        if let Some(f) = call.f.take() {
            call.result = Some(catch_unwind(AssertUnwindSafe(f)));
        }
        ptr::null_mut()
    }

    fn finish(self) -> Option<T> {
        self.result.map(|result| result.unwrap_or_else(|panic| resume_unwind(panic)))
    }
}

/// Sets the flag: all that may be done here.
unsafe extern "C" fn unblock(flag: *mut c_void) {
    // SAFETY: flags live as long as the process.
    unsafe { &*flag.cast::<AtomicBool>() }.store(true, Ordering::Relaxed);
}

/// `None` when an interrupt is pending and `f` was not called.
fn without_lock<T>(f: impl FnOnce() -> T, cancel: Option<&'static AtomicBool>) -> Option<T> {
    let mut call = Call::new(f);
    let run = runner(&call);
    let flag = cancel.map_or(ptr::null_mut(), |flag| ptr::from_ref(flag).cast_mut().cast());
    let unblock = cancel.map(|_| unblock as unsafe extern "C" fn(*mut c_void));
    // That the function to unblock may be called by a handler of signals is to be said: otherwise Ruby starts a thread
    // for it with each call, and ends that thread in a way that may raise across our frames.
    let flags = (rb_sys::RB_NOGVL_INTR_FAIL | rb_sys::RB_NOGVL_UBF_ASYNC_SAFE) as i32;
    // SAFETY: we hold the lock; the call outlives this statement, the flag the process; `run` does not unwind. With
    // these flags it returns instead of raising.
    watched(cancel, || unsafe {
        rb_sys::rb_nogvl(Some(run), ptr::from_mut(&mut call).cast(), unblock, flag, flags);
    });
    call.finish()
}

/// How long a signal may go unnoticed.
const WATCH_INTERVAL: Duration = Duration::from_millis(10);

/// Runs `f`, and sets the flag meanwhile when a signal waits for this thread.
///
/// Signals are for the main thread. Ruby tells one that works without the lock only if no other thread lived when it
/// began, or if one happens to sleep; where the others work, too, somebody else has to look.
fn watched(cancel: Option<&'static AtomicBool>, f: impl FnOnce()) {
    // SAFETY: we hold the lock.
    let (current, main, alone) =
        unsafe { (rb_sys::rb_thread_current(), rb_sys::rb_thread_main(), rb_sys::rb_thread_alone() != 0) };
    let Some(cancel) = cancel.filter(|_| current == main && !alone) else { return f() };
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let watcher = thread::Builder::new().spawn_scoped(scope, || {
            while !done.load(Ordering::Relaxed) {
                // SAFETY: it reads the flags of a thread that lives, as it waits for this function, and does not move.
                if unsafe { rb_sys::rb_thread_interrupted(main) } != 0 {
                    cancel.store(true, Ordering::Relaxed);
                }
                thread::park_timeout(WATCH_INTERVAL);
            }
        });
        f();
        done.store(true, Ordering::Relaxed);
        // If there are no threads to be had, the signal has to wait.
        if let Ok(watcher) = watcher {
            watcher.thread().unpark();
        }
    });
}

/// Runs `f` with the lock, from within work that gave it away. `f` must not raise: what Ruby raises comes back as an
/// `Err`, to be raised when the work has returned.
pub fn acquire<T>(f: impl FnOnce(&Ruby) -> T) -> Option<T> {
    // SAFETY: it is called with the lock, on a thread of Ruby's.
    let mut call = Call::new(|| f(&unsafe { Ruby::get_unchecked() }));
    let run = runner(&call);
    // SAFETY: only called by progress callbacks of work under `release`, on the same thread, without the lock.
    unsafe { rb_sys::rb_thread_call_with_gvl(Some(run), ptr::from_mut(&mut call).cast()) };
    call.finish()
}

fn runner<F: FnOnce() -> T, T>(_: &Call<F, T>) -> unsafe extern "C" fn(*mut c_void) -> *mut c_void {
    Call::<F, T>::run
}

/// An exception of the user's, kept until it can be raised.
#[derive(Default)]
pub struct Parked(RefCell<Option<Error>>);

impl Parked {
    /// Keeps the first one.
    pub fn park(&self, error: Error) {
        self.0.borrow_mut().get_or_insert(error);
    }

    /// Raises it, if there is one.
    pub fn raise(&self) -> Result<(), Error> {
        match self.0.borrow_mut().take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}
