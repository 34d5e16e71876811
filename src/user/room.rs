//! Room on the stack for recursion over the nesting of a user's text.

/// Runs `work` with a stack that recursion over texts which
/// [`scan`](super::scan::scan) lets pass cannot exhaust, in unoptimised builds
/// neither. `None` when it panicked, or there was no thread to be had.
#[cfg(not(target_arch = "wasm32"))]
pub(super) fn with_room<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    const STACK: usize = 16 << 20;
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .name("wgsl".into())
            .stack_size(STACK)
            .spawn_scoped(scope, work)
            .ok()?
            .join()
            .ok()
    })
}

/// There are no threads in browsers; `scan` lets less pass there.
#[cfg(target_arch = "wasm32")]
pub(super) fn with_room<T>(work: impl FnOnce() -> T) -> Option<T> {
    Some(work())
}
