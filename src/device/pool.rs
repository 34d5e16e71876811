//! Buffers that are used again: a steady loop allocates nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::device::Gpu;
use crate::error::Result;

/// What the pool holds and did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PoolStatistics {
    /// Buffers created since the device was.
    pub created: u64,
    /// Requests served by a buffer used before.
    pub reused: u64,
    /// Bytes of free buffers kept for reuse.
    pub free_bytes: u64,
}

#[derive(Default)]
pub(crate) struct Pool {
    free: Mutex<Free>,
}

#[derive(Default)]
struct Free {
    buffers: HashMap<(u64, wgpu::BufferUsages), Vec<wgpu::Buffer>>,
    statistics: PoolStatistics,
}

/// A buffer that goes back to its device's pool when dropped. Work that was
/// recorded before runs before work that is recorded on the buffer's next use:
/// the device has one ordered command stream.
#[derive(Debug)]
pub struct PooledBuffer {
    buffer: wgpu::Buffer,
    pool: std::sync::Weak<Pool>,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pool")
    }
}

impl PooledBuffer {
    /// The buffer.
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// Drops the buffer instead of keeping it for reuse.
    pub(crate) fn discard(mut self) {
        self.pool = std::sync::Weak::new();
    }
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        let Some(pool) = self.pool.upgrade() else {
            return;
        };
        let Ok(mut free) = pool.free.lock() else {
            return;
        };
        free.statistics.free_bytes += self.buffer.size();
        let key = (self.buffer.size(), self.buffer.usage());
        free.buffers
            .entry(key)
            .or_default()
            .push(self.buffer.clone());
    }
}

/// Sizes in steps of an eighth of a power of two, so that at most an eighth is wasted.
fn size_class(bytes: u64) -> u64 {
    let bytes = bytes.max(256);
    let step = (bytes.next_power_of_two() / 16).max(256);
    bytes.next_multiple_of(step)
}

impl Gpu {
    /// A storage buffer of at least `bytes`, with undefined contents, from the pool.
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`] when the device has no room, after free buffers were let go.
    pub fn allocate(&self, what: &str, bytes: u64) -> Result<PooledBuffer> {
        use wgpu::BufferUsages as Usage;
        self.allocate_for(
            what,
            bytes,
            Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST,
        )
    }

    pub(crate) fn allocate_for(
        &self,
        what: &str,
        bytes: u64,
        usage: wgpu::BufferUsages,
    ) -> Result<PooledBuffer> {
        let pool: &Arc<Pool> = self.pool();
        // A class may reach beyond what one buffer can hold: then the exact size.
        let limits = &self.capabilities().limits;
        let most = limits.max_buffer_size;
        let size = if size_class(bytes) > most {
            bytes.max(16).next_multiple_of(16)
        } else {
            size_class(bytes)
        };
        let reused = {
            let mut free = pool.free.lock().unwrap_or_else(|e| e.into_inner());
            let buffer = free.buffers.get_mut(&(size, usage)).and_then(Vec::pop);
            if buffer.is_some() {
                free.statistics.reused += 1;
                free.statistics.free_bytes -= size;
            }
            buffer
        };
        let buffer = match reused {
            Some(buffer) => buffer,
            None => {
                let create = || self.create_buffer(what, size, usage);
                let buffer = create().or_else(|error| {
                    self.trim_pool();
                    create().map_err(|_| error)
                })?;
                pool.free
                    .lock()
                    .unwrap_or_else(|e| e.into_inner())
                    .statistics
                    .created += 1;
                buffer
            }
        };
        Ok(PooledBuffer {
            buffer,
            pool: Arc::downgrade(pool),
        })
    }

    /// Lets go of all free buffers.
    pub fn trim_pool(&self) {
        let mut free = self.pool().free.lock().unwrap_or_else(|e| e.into_inner());
        free.buffers.clear();
        free.statistics.free_bytes = 0;
    }

    /// What the buffer pool holds and did.
    pub fn pool_statistics(&self) -> PoolStatistics {
        self.pool()
            .free
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .statistics
    }
}
