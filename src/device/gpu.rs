//! A device with its caches and its command stream.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::device::adapters::{self, Selector};
use crate::device::pool::Pool;
use crate::device::{Capabilities, Pipeline, device_requirements};
use crate::dispatch::{Decisions, Probes};
use crate::error::{Error, Result};
use crate::plan::{BufferView, Kernel, Plan, Prepared, ScratchSpec};

/// A GPU: device, queue, caches and one ordered command stream. A handle;
/// clones share everything. Can be used from several threads.
#[derive(Clone)]
pub struct Gpu(Arc<Inner>);

struct Inner {
    device: wgpu::Device,
    queue: wgpu::Queue,
    capabilities: Capabilities,
    pool: Arc<Pool>,
    // By kernel, and by what is compiled: several kernels can link to one text.
    kernels: Mutex<HashMap<Arc<Kernel>, Arc<Pipeline>>>,
    pipelines: Mutex<HashMap<PipelineKey, Arc<Pipeline>>>,
    stream: Mutex<Option<wgpu::CommandEncoder>>,
    loss: Arc<OnceLock<String>>,
    decisions: Decisions,
    probes: Probes,
    report: Mutex<PreparedReport>,
    #[cfg(target_arch = "wasm32")]
    late: Mutex<Vec<LateError>>,
}

/// What an error scope of a browser will have caught: known only after the call has returned.
#[cfg(target_arch = "wasm32")]
type LateError = Pin<Box<dyn Future<Output = Option<Error>>>>;

#[derive(PartialEq, Eq, Hash)]
struct PipelineKey {
    text: String,
    unchecked: bool,
    unzeroed: bool,
    layout: Vec<bool>,
}

/// Time spent on preparing so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PreparedReport {
    /// Pipelines compiled.
    pub pipelines: u32,
    /// Linking WGSL.
    pub linking: Duration,
    /// Creating shader modules and pipelines.
    pub compiling: Duration,
    /// Running probes, the compilation of their kernels included.
    pub probing: Duration,
}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Gpu({})", self.0.capabilities.identity)
    }
}

impl PartialEq for Gpu {
    fn eq(&self, other: &Gpu) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Gpu {
    /// Opens the adapter that `selector` names.
    ///
    /// # Errors
    /// [`Error::NoAdapter`] when there is none, or none of that name; or when the driver refuses.
    pub async fn open(selector: &Selector) -> Result<Gpu> {
        match adapters::select(selector).await? {
            Some(entry) => Gpu::from_adapter(&entry.adapter).await,
            None => Err(Error::NoAdapter(
                "this machine has no usable adapter; `Device::cpu()` needs none".into(),
            )),
        }
    }

    /// Creates a device of this adapter with everything that kernels can use.
    ///
    /// # Errors
    /// [`Error::NoAdapter`] with the driver's message.
    pub async fn from_adapter(adapter: &wgpu::Adapter) -> Result<Gpu> {
        let (required_features, required_limits) = device_requirements(adapter);
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("portcullis"),
            required_features,
            required_limits,
            memory_hints: wgpu::MemoryHints::Performance,
            ..Default::default()
        };
        let refused = |e: wgpu::RequestDeviceError| {
            Error::NoAdapter(format!("{}: {e}", adapter.get_info().name))
        };
        let (device, queue) = adapter.request_device(&descriptor).await.map_err(refused)?;
        let loss = Arc::new(OnceLock::new());
        let shared = loss.clone();
        device.set_device_lost_callback(move |reason, message| {
            let _ = shared.set(format!("{reason:?}: {message}"));
        });
        let capabilities = Capabilities::of(&device);
        Ok(Gpu::assemble(device, queue, capabilities, loss))
    }

    /// Uses a device of the caller's. Its lost callback stays the caller's: a loss is learnt from reads.
    pub fn from_device(device: wgpu::Device, queue: wgpu::Queue) -> Gpu {
        let capabilities = Capabilities::of(&device);
        Gpu::assemble(device, queue, capabilities, Arc::default())
    }

    /// The same device with a view of its own on what it can do and caches of
    /// its own: lower limits and fewer features, for tests of small devices.
    pub fn with_capabilities(&self, change: impl FnOnce(&mut Capabilities)) -> Gpu {
        let mut capabilities = self.0.capabilities.clone();
        change(&mut capabilities);
        Gpu::assemble(
            self.0.device.clone(),
            self.0.queue.clone(),
            capabilities,
            self.0.loss.clone(),
        )
    }

    fn assemble(
        device: wgpu::Device,
        queue: wgpu::Queue,
        capabilities: Capabilities,
        loss: Arc<OnceLock<String>>,
    ) -> Gpu {
        Gpu(Arc::new(Inner {
            device,
            queue,
            capabilities,
            pool: Arc::default(),
            kernels: Mutex::default(),
            pipelines: Mutex::default(),
            stream: Mutex::default(),
            loss,
            decisions: Decisions::default(),
            probes: Probes::default(),
            report: Mutex::default(),
            #[cfg(target_arch = "wasm32")]
            late: Mutex::default(),
        }))
    }

    /// The wgpu device.
    pub fn device(&self) -> &wgpu::Device {
        &self.0.device
    }

    /// The wgpu queue.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.0.queue
    }

    /// What the device can do.
    pub fn capabilities(&self) -> &Capabilities {
        &self.0.capabilities
    }

    /// Time spent on linking, compiling and probing so far.
    pub fn prepared_report(&self) -> PreparedReport {
        *lock(&self.0.report)
    }

    pub(crate) fn report_probing(&self, time: Duration) {
        lock(&self.0.report).probing += time;
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.0.pool
    }

    pub(crate) fn probes(&self) -> &Probes {
        &self.0.probes
    }

    pub(crate) fn decisions(&self) -> &Decisions {
        &self.0.decisions
    }

    /// The error that says how the device was lost, if it was.
    pub fn loss(&self) -> Option<Error> {
        self.0
            .loss
            .get()
            .map(|reason| Error::DeviceLost(reason.clone()))
    }

    /// Compiles the kernels of a plan: after that nothing but buffers is missing.
    /// Plans of fast variants should come from [`Gpu::prepare`], which probes them.
    ///
    /// # Errors
    /// [`Error::Kernel`] when a driver refuses a kernel.
    pub fn prepare_plan(&self, plan: Plan) -> Result<Prepared> {
        Prepared::new(self, plan)
    }

    /// New scratch buffers for a plan. Not from the pool, whose buffers may
    /// still be awaited by the command stream: the caller's own encoder runs
    /// in an order of its own.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when the device has no room.
    pub fn scratch_for(&self, plan: &Plan) -> Result<Vec<BufferView>> {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let create = |s: &ScratchSpec| {
            Ok(BufferView::new(
                &self.create_buffer(s.name, s.bytes, usage)?,
            ))
        };
        plan.scratch.iter().map(create).collect()
    }

    /// Records into the command stream. Nothing runs before [`Gpu::submit`] or a read.
    pub fn with_encoder<T>(&self, record: impl FnOnce(&mut wgpu::CommandEncoder) -> T) -> T {
        let mut stream = lock(&self.0.stream);
        let encoder = stream.get_or_insert_with(|| {
            let label = Some("portcullis stream");
            self.0
                .device
                .create_command_encoder(&wgpu::CommandEncoderDescriptor { label })
        });
        record(encoder)
    }

    /// Submits what was recorded into the command stream.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], or [`Error::Device`] when the device refuses a recorded command.
    pub fn submit(&self) -> Result<()> {
        if let Some(error) = self.loss() {
            return Err(error);
        }
        let Some(encoder) = lock(&self.0.stream).take() else {
            return Ok(());
        };
        self.catching("submit", "commands", 0, |_| {
            self.0.queue.submit([encoder.finish()]);
        })
    }

    /// Blocks until everything submitted is done.
    ///
    /// # Errors
    /// As [`Gpu::submit`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn wait(&self) -> Result<()> {
        self.submit()?;
        let lost = |e: wgpu::PollError| {
            self.loss()
                .unwrap_or_else(|| Error::DeviceLost(e.to_string()))
        };
        let turn = self.turn();
        let polled = self.0.device.poll(wgpu::PollType::wait_indefinitely());
        drop(turn);
        polled.map_err(lost)?;
        self.loss().map_or(Ok(()), Err)
    }

    pub(crate) fn uses_gl(&self) -> bool {
        self.0.capabilities.identity.backend == "gl"
    }

    /// The right to call what may need the GL context, where this is a GL device.
    pub(crate) fn turn(&self) -> Option<MutexGuard<'static, ()>> {
        turn(self.uses_gl())
    }

    /// The pipeline of a kernel, compiled on first use.
    pub(crate) fn pipeline(&self, kernel: &Arc<Kernel>) -> Result<Arc<Pipeline>> {
        let usable = |pipeline: &Arc<Pipeline>| match pipeline.refused.get() {
            Some(error) => Err(error.clone()),
            None => Ok(pipeline.clone()),
        };
        if let Some(pipeline) = lock(&self.0.kernels).get(kernel) {
            return usable(pipeline);
        }
        let start = now();
        let linked = kernel.link(self.0.capabilities.browser)?;
        dump(kernel, &linked.text);
        let linking = elapsed(start);
        let layout = kernel
            .bindings
            .iter()
            .map(|b| b.read_only() && !kernel.shared_buffers)
            .collect();
        let key = PipelineKey {
            text: linked.text,
            unchecked: kernel.unchecked,
            unzeroed: kernel.unzeroed,
            layout,
        };
        let found = lock(&self.0.pipelines).get(&key).cloned();
        let pipeline = match found {
            Some(pipeline) => usable(&pipeline)?,
            None => {
                let start = now();
                let pipeline = Arc::new(self.compile(kernel, &key.text)?);
                let mut report = lock(&self.0.report);
                report.pipelines += 1;
                report.compiling += elapsed(start);
                lock(&self.0.pipelines).insert(key, pipeline.clone());
                pipeline
            }
        };
        lock(&self.0.report).linking += linking;
        lock(&self.0.kernels).insert(kernel.clone(), pipeline.clone());
        Ok(pipeline)
    }

    /// Creates a buffer; no room is a typed error.
    pub(crate) fn create_buffer(
        &self,
        what: &str,
        size: u64,
        usage: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer> {
        let limit = self.0.capabilities.limits.max_buffer_size;
        if size > limit {
            return Err(Error::Limit {
                operation: "allocate".into(),
                what: format!("bytes for {what}"),
                asked: size,
                limit,
                way_out: "One buffer of this device holds no more: split the tensor".into(),
            });
        }
        self.catching("allocate", what, size, |device| {
            let label = Some("portcullis");
            device.create_buffer(&wgpu::BufferDescriptor {
                label,
                size,
                usage,
                mapped_at_creation: false,
            })
        })
    }

    /// Runs device calls inside error scopes. What fails is a typed error and
    /// reaches no handler of the caller's. In browsers, where errors arrive
    /// later, they show at the next read.
    pub(crate) fn catching<T>(
        &self,
        operation: &str,
        what: &str,
        bytes: u64,
        call: impl FnOnce(&wgpu::Device) -> T,
    ) -> Result<T> {
        let scopes = [
            wgpu::ErrorFilter::OutOfMemory,
            wgpu::ErrorFilter::Validation,
        ]
        .map(|filter| self.0.device.push_error_scope(filter));
        let turn = self.turn();
        let value = call(&self.0.device);
        drop(turn);
        let [memory, validation] = scopes;
        let (operation, of) = (operation.to_string(), what.to_string());
        let validation = self.pop(validation, move |error| Error::Device {
            operation,
            message: format!("{of}: {error}"),
        });
        let what = what.to_string();
        let memory = self.pop(memory, move |_| Error::OutOfMemory { what, bytes });
        if let Some(error) = self.loss() {
            return Err(error);
        }
        memory.or(validation).map_or(Ok(value), Err)
    }

    /// What a scope caught, as one of our errors, where that is known at once:
    /// natively it always is. In browsers it shows at [`Gpu::settle`].
    pub(crate) fn pop(
        &self,
        scope: wgpu::ErrorScopeGuard,
        typed: impl FnOnce(wgpu::Error) -> Error + 'static,
    ) -> Option<Error> {
        let mut future = Box::pin(scope.pop());
        match poll_once(future.as_mut()) {
            Poll::Ready(error) => error.map(typed),
            Poll::Pending => {
                #[cfg(target_arch = "wasm32")]
                self.expect_late(Box::pin(async move { future.await.map(typed) }));
                None
            }
        }
    }

    #[cfg(target_arch = "wasm32")]
    fn expect_late(&self, error: LateError) {
        let mut late = lock(&self.0.late);
        // A program that never reads must not collect them without end.
        if late.len() >= 256 {
            late.retain_mut(|error| match poll_once(error.as_mut()) {
                Poll::Ready(None) => false,
                Poll::Ready(known) => {
                    *error = Box::pin(std::future::ready(known));
                    true
                }
                Poll::Pending => true,
            });
        }
        late.push(error);
    }

    /// Waits until it is known whether the device accepted everything asked of
    /// it so far. Natively that is known when a call returns.
    ///
    /// # Errors
    /// The first error, if any.
    #[cfg(target_arch = "wasm32")]
    pub(crate) async fn settle(&self) -> Result<()> {
        let late = std::mem::take(&mut *lock(&self.0.late));
        let mut first = None;
        for error in late {
            first = first.or(error.await);
        }
        first.map_or(Ok(()), Err)
    }

    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) async fn settle(&self) -> Result<()> {
        Ok(())
    }
}

/// Taken by every call that needs the context of GL: wgpu panics in a thread that
/// waits for it longer than a second, which compiling and waiting for work exceed.
static GL_CONTEXT: Mutex<()> = Mutex::new(());

/// See [`Gpu::turn`].
pub(crate) fn turn(gl: bool) -> Option<MutexGuard<'static, ()>> {
    gl.then(|| lock(&GL_CONTEXT))
}

fn poll_once<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere leaves caches whole: each is changed by one insertion.
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn now() -> std::time::Instant {
    std::time::Instant::now()
}

#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn elapsed(start: std::time::Instant) -> Duration {
    start.elapsed()
}

// wasm32 has no clock in std; preparation is not timed there.
#[cfg(target_arch = "wasm32")]
pub(crate) struct NoClock;

#[cfg(target_arch = "wasm32")]
pub(crate) fn now() -> NoClock {
    NoClock
}

#[cfg(target_arch = "wasm32")]
pub(crate) fn elapsed(_start: NoClock) -> Duration {
    Duration::ZERO
}

/// Writes linked text to the folder that `PORTCULLIS_DUMP_WGSL` names, if any.
fn dump(kernel: &Kernel, text: &str) {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let Some(folder) = std::env::var_os("PORTCULLIS_DUMP_WGSL") else {
        return;
    };
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let name = format!(
        "{}-{:016x}.wgsl",
        kernel.root.replace('/', "-"),
        hasher.finish()
    );
    let path = std::path::Path::new(&folder).join(name);
    let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, text));
    if let Err(error) = written {
        eprintln!(
            "portcullis: PORTCULLIS_DUMP_WGSL: {}: {error}",
            path.display()
        );
    }
}
