//! Reading buffers back, without blocking anybody's executor.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use crate::device::Gpu;
#[cfg(not(target_arch = "wasm32"))]
use crate::device::gpu::turn;
use crate::error::{Error, Result};

/// The outcome of a mapping, once its callback ran.
#[derive(Default)]
struct Mapping {
    result: Option<Result<(), wgpu::BufferAsyncError>>,
    waker: Option<Waker>,
}

/// Resolves when the buffer is mapped.
struct Mapped(Arc<Mutex<Mapping>>);

impl Future for Mapped {
    type Output = Result<(), wgpu::BufferAsyncError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut mapping = self.0.lock().unwrap_or_else(|e| e.into_inner());
        match mapping.result.take() {
            Some(result) => Poll::Ready(result),
            None => {
                mapping.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Gpu {
    /// Submits what was recorded so far and reads `bytes` of a buffer, from `offset` (a multiple of 4).
    ///
    /// # Errors
    /// [`Error::DeviceLost`], [`Error::OutOfMemory`].
    pub async fn read(&self, buffer: &wgpu::Buffer, offset: u64, bytes: u64) -> Result<Vec<u8>> {
        if bytes == 0 {
            return Ok(Vec::new());
        }
        use wgpu::BufferUsages as Usage;
        let copied = bytes.next_multiple_of(4);
        let staging = self.allocate_for("read-back", copied, Usage::MAP_READ | Usage::COPY_DST)?;
        self.with_encoder(|encoder| {
            encoder.copy_buffer_to_buffer(buffer, offset, staging.buffer(), 0, copied);
        });
        self.submit()?;
        let data = self.map_read(staging.buffer(), bytes).await;
        if data.is_err() {
            // Its mapping state is unknown: not for reuse.
            staging.discard();
        }
        data
    }

    /// Records the upload of `bytes` to the start of a buffer: a copy in the command stream, which
    /// keeps its order with work recorded before on the same buffer.
    pub(crate) fn upload(&self, buffer: &wgpu::Buffer, bytes: &[u8]) -> Result<()> {
        self.upload_at(buffer, 0, bytes)
    }

    /// As [`Gpu::upload`], `offset` bytes into the buffer. Where that is not a multiple of 4, the
    /// bytes up to there from the last multiple become zeros.
    pub(crate) fn upload_at(&self, buffer: &wgpu::Buffer, offset: u64, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let start = offset / 4 * 4;
        let padding = (offset - start) as usize;
        let size = (padding + bytes.len()).next_multiple_of(4) as u64;
        let staging = self.catching("upload", "staging", size, |device| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("portcullis upload"),
                size,
                usage: wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: true,
            })
        })?;
        let refused = |e: wgpu::MapRangeError| Error::Device {
            operation: "upload".into(),
            message: e.to_string(),
        };
        let turn = self.turn();
        // The whole buffer: mapped ranges are of whole words, in front and behind.
        let mut range = staging.slice(..).get_mapped_range_mut().map_err(refused)?;
        range
            .slice(padding..padding + bytes.len())
            .copy_from_slice(bytes);
        drop(range);
        staging.unmap();
        drop(turn);
        self.with_encoder(|encoder| {
            encoder.copy_buffer_to_buffer(&staging, 0, buffer, start, size)
        });
        Ok(())
    }

    /// Maps a staging buffer whose copy was submitted, and takes its first `bytes`.
    pub(crate) async fn map_read(&self, staging: &wgpu::Buffer, bytes: u64) -> Result<Vec<u8>> {
        let mapping = Arc::new(Mutex::new(Mapping::default()));
        let slice = staging.slice(..bytes.next_multiple_of(4));
        let shared = mapping.clone();
        let turn = self.turn();
        slice.map_async(wgpu::MapMode::Read, move |result| {
            let mut mapping = shared.lock().unwrap_or_else(|e| e.into_inner());
            mapping.result = Some(result);
            if let Some(waker) = mapping.waker.take() {
                waker.wake();
            }
        });
        drop(turn);
        self.drive();
        let mapped = Mapped(mapping).await;
        if let (Err(_), Some(loss)) = (&mapped, self.loss()) {
            return Err(loss);
        }
        // What the device refused before explains why a mapping failed, and makes what it holds worthless.
        self.settle().await?;
        mapped.map_err(|e| Error::DeviceLost(e.to_string()))?;
        let _turn = self.turn();
        let range = slice.get_mapped_range().map_err(|e| Error::Device {
            operation: "read".into(),
            message: e.to_string(),
        })?;
        let data = range[..bytes as usize].to_vec();
        drop(range);
        staging.unmap();
        Ok(data)
    }

    /// Sees to it that callbacks run: natively a thread polls the device until
    /// the work submitted so far is done; browsers do it by themselves.
    #[cfg(not(target_arch = "wasm32"))]
    fn drive(&self) {
        if blocking::active() {
            // The caller blocks anyway: no thread is needed. A failure shows in the callback.
            let _turn = self.turn();
            let _ = self.device().poll(wgpu::PollType::wait_indefinitely());
            return;
        }
        let (device, gl) = (self.device().clone(), self.uses_gl());
        std::thread::spawn(move || {
            let _turn = turn(gl);
            let _ = device.poll(wgpu::PollType::wait_indefinitely());
        });
    }

    #[cfg(target_arch = "wasm32")]
    fn drive(&self) {}
}

/// Blocks on a future of this crate.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod blocking {
    use std::cell::Cell;

    thread_local!(static ACTIVE: Cell<bool> = const { Cell::new(false) });

    /// Whether this thread is inside [`block_on`].
    pub fn active() -> bool {
        ACTIVE.get()
    }

    /// Runs a future to its end on this thread.
    pub fn block_on<F: Future>(future: F) -> F::Output {
        let before = ACTIVE.replace(true);
        let output = pollster::block_on(future);
        ACTIVE.set(before);
        output
    }
}
