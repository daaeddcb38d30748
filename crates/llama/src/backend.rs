//! The parts of llama.cpp that belong to the process, not to a model.

use crate::error::{Error, Result};
use crate::{fork, log, sys};
use std::ffi::{c_void, CStr};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// The build of llama.cpp that is compiled in, like `b1892`.
pub const BUILD: &str = env!("LLAMA_CPP_BUILD");

/// The flags of the processor and the back ends that it was compiled with.
pub const FLAGS: &str = env!("LLAMA_CPP_FLAGS");

/// Prepares llama.cpp. `numa` spreads the work over the nodes of a NUMA machine; it takes effect the first time only.
/// Calling it again does no harm.
pub fn init(numa: bool) {
    static STATE: Mutex<(bool, bool)> = Mutex::new((false, false));
    log::install();
    fork::prepare();
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    // llama.cpp reads the nodes again with each call, and expects not to find any yet.
    if !state.0 || (numa && !state.1) {
        // SAFETY: no precondition; the mutex makes it one call at a time.
        unsafe { sys::llama_backend_init(numa) };
        *state = (true, numa || state.1);
    }
}

/// Takes down what [`init`] prepared; in this build of llama.cpp there is nothing to take down.
pub fn free() {
    // SAFETY: no precondition.
    unsafe { sys::llama_backend_free() };
}

/// Microseconds of a clock that only goes forward.
pub fn time_us() -> i64 {
    init(false);
    // SAFETY: no precondition but the initialised clock.
    unsafe { sys::llama_time_us() }
}

/// How many devices a model can be split over.
pub fn max_devices() -> i32 {
    // SAFETY: no precondition.
    unsafe { sys::llama_max_devices() }
}

/// Whether models can be mapped into memory here.
pub fn mmap_supported() -> bool {
    // SAFETY: no precondition.
    unsafe { sys::llama_mmap_supported() }
}

/// Whether memory can be locked here.
pub fn mlock_supported() -> bool {
    // SAFETY: no precondition.
    unsafe { sys::llama_mlock_supported() }
}

/// The processor's features that llama.cpp was compiled for, like `AVX = 1 | AVX2 = 1 | …`.
pub fn system_info() -> String {
    static LOCK: Mutex<()> = Mutex::new(());
    let _lock = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: llama.cpp returns a string of its own that the next call writes anew; the lock keeps that call away.
    unsafe { CStr::from_ptr(sys::llama_print_system_info()) }.to_string_lossy().into_owned()
}

/// The cores that this process may use: its affinity and its cgroup's limits count.
pub fn usable_cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX))
}

/// Proves that `n` threads can run at a time. llama.cpp ends the process when one of its own cannot be started.
///
/// # Errors
///
/// [`Error::State`] when the system does not let this process have that many.
pub(crate) fn check_threads(n: u32) -> Result<()> {
    static PROVEN: AtomicU32 = AtomicU32::new(1);
    if n <= PROVEN.load(Ordering::Relaxed) {
        return Ok(());
    }
    let gate = Mutex::new(());
    // None of them ends before the last has begun.
    let closed = gate.lock().unwrap_or_else(PoisonError::into_inner);
    let mut threads = Vec::new();
    let mut failure = None;
    for i in 1..n {
        let mut thread = std::mem::MaybeUninit::uninit();
        // Not Rust's own threads: they end the process when there is no memory for what they begin with.
        // SAFETY: the gate lives until all threads are joined; the handle is read only if it was written.
        let error = unsafe {
            libc::pthread_create(thread.as_mut_ptr(), ptr::null(), wait, ptr::from_ref(&gate).cast_mut().cast())
        };
        if error != 0 {
            failure = Some((i, std::io::Error::from_raw_os_error(error)));
            break;
        }
        // SAFETY: it was started.
        threads.push(unsafe { thread.assume_init() });
    }
    drop(closed);
    for thread in threads {
        // SAFETY: each is joined once.
        unsafe { libc::pthread_join(thread, ptr::null_mut()) };
    }
    match failure {
        Some((i, e)) => Err(Error::state(format!("{n} threads are wanted, but only {i} can be started: {e}"))),
        None => {
            PROVEN.fetch_max(n, Ordering::Relaxed);
            Ok(())
        }
    }
}

extern "C" fn wait(gate: *mut c_void) -> *mut c_void {
    // SAFETY: `check_threads` keeps the gate until this thread is joined.
    let gate = unsafe { &*gate.cast::<Mutex<()>>() };
    drop(gate.lock());
    ptr::null_mut()
}

/// Bytes of memory of this machine, or of this process' cgroup if that is less. `None` where that cannot be told.
pub fn memory_limit() -> Option<u64> {
    let physical = physical_memory();
    let cgroup = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .iter()
        .find_map(|path| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok());
    match (physical, cgroup) {
        (Some(p), Some(c)) => Some(p.min(c)),
        (p, c) => p.or(c),
    }
}

fn physical_memory() -> Option<u64> {
    // SAFETY: sysconf only reads.
    let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    u64::try_from(pages).ok()?.checked_mul(u64::try_from(page).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_forward() {
        let before = time_us();
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(time_us() - before >= 2_000);
    }

    #[test]
    fn threads_are_started_before_they_are_needed() {
        assert_eq!(check_threads(8), Ok(()));
    }

    #[test]
    fn system_info_lists_features() {
        assert!(system_info().contains("AVX2 = "));
        assert!(BUILD.starts_with('b'));
    }
}
