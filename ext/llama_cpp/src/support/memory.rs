//! Tells the collector of memory that it does not see.

/// Bytes that were reported, taken back when this is dropped.
#[derive(Default)]
pub struct Reported(isize);

impl Reported {
    /// Reports `bytes` more; the collector may run.
    pub fn new(bytes: usize) -> Self {
        let bytes = isize::try_from(bytes).unwrap_or(isize::MAX);
        adjust(bytes);
        remind();
        Self(bytes)
    }
}

impl Drop for Reported {
    fn drop(&mut self) {
        if self.0 != 0 {
            adjust(-self.0);
        }
    }
}

/// The collector looks at the sum of what was reported only when its own functions allocate.
fn remind() {
    // SAFETY: called with the lock of the VM; what is allocated is released at once.
    unsafe { rb_sys::ruby_xfree(rb_sys::ruby_xmalloc(1)) };
}

fn adjust(bytes: isize) {
    // SAFETY: called with the lock of the VM, be it by a method or by the collector that frees an object: Ruby has this
    // function for the latter, too.
    unsafe { rb_sys::rb_gc_adjust_memory_usage(bytes as _) };
}
