//! The performance gate: times of runs whose output was verified.

use std::time::{Duration, Instant};

use crate::device::Gpu;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::gate::{Instance, Row};
use crate::host::HostTensor;
use crate::operation::{Call, Variant};
use crate::params::Params;
use crate::plan::{BufferView, Prepared};
use crate::registry;
use crate::spec::TensorSpec;

/// Where times come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// Timestamps of the device, at the pass's boundaries.
    Device,
    /// The host's clock around submission and completion.
    Host,
}

/// Times of one problem, fastest first.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// One entry a run.
    pub times: Vec<Duration>,
    /// Where they come from.
    pub clock: Clock,
    /// The verdict on the output of the last timed run. Without a pass the times mean nothing.
    pub row: Row,
}

impl Measurement {
    /// The time that a share `q` of the runs did not exceed.
    pub fn quantile(&self, q: f64) -> Duration {
        let last = self.times.len().saturating_sub(1);
        self.times
            .get((last as f64 * q).round() as usize)
            .copied()
            .unwrap_or_default()
    }

    /// The median time.
    pub fn median(&self) -> Duration {
        self.quantile(0.5)
    }
}

/// How often to run.
#[derive(Debug, Clone, Copy)]
pub struct Repeats {
    /// Runs before the first that counts.
    pub warm_up: u32,
    /// Runs that count.
    pub timed: u32,
}

/// Times a prepared plan on an instance's inputs and verifies the output.
///
/// # Errors
/// Whatever the device reports.
pub async fn measure(
    gpu: &Gpu,
    prepared: &Prepared,
    instance: &Instance,
    repeats: Repeats,
) -> Result<Measurement> {
    use wgpu::BufferUsages as Usage;
    let usage = Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST;
    let plan = prepared.plan();
    let mut inputs = Vec::new();
    for input in &instance.inputs {
        inputs.push(match input {
            Some(input) => {
                let padding = input.offset * input.stored.dtype().size();
                let bytes = input.stored.bytes();
                let size = (padding + bytes.len()).next_multiple_of(16) as u64;
                let buffer = gpu.create_buffer("an input", size.max(16), usage)?;
                gpu.upload_at(&buffer, padding as u64, bytes)?;
                let first = (input.offset + input.first) * input.stored.dtype().size();
                Some(BufferView::at(&buffer, first as u64))
            }
            None => None,
        });
    }
    let mut outputs = Vec::new();
    for spec in &plan.call.outputs {
        let bytes = crate::plan::dense_bytes(spec.dtype, spec.len());
        outputs.push(BufferView::new(&gpu.create_buffer(
            "an output",
            bytes.max(16),
            usage,
        )?));
    }
    let bound = prepared.bind(&inputs, &outputs, &gpu.scratch_for(plan)?)?;
    gpu.submit()?;

    let timestamps = gpu
        .capabilities()
        .timestamps
        .then(|| Timestamps::new(gpu, repeats.timed));
    let mut host_times = Vec::new();
    for run in 0..repeats.warm_up + repeats.timed {
        let timed = run.checked_sub(repeats.warm_up);
        if timed == Some(0) {
            gpu.wait()?;
        }
        let start = Instant::now();
        gpu.catching(plan.call.name(), "commands", 0, |device| {
            let mut encoder =
                device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: None });
            let writes = timed.and_then(|i| timestamps.as_ref().map(|t| t.writes(i)));
            let descriptor = wgpu::ComputePassDescriptor {
                label: None,
                timestamp_writes: writes,
            };
            bound.record_in_pass(&mut encoder.begin_compute_pass(&descriptor));
            gpu.queue().submit([encoder.finish()]);
        })?;
        // With timestamps the runs queue up, as in a program's own loop.
        if timed.is_some() && timestamps.is_none() {
            gpu.wait()?;
            host_times.push(start.elapsed());
        }
    }
    gpu.wait()?;
    let device_times = match timestamps {
        Some(timestamps) => timestamps.read(gpu).await?,
        None => Vec::new(),
    };
    // Some software adapters offer timestamps that stand still.
    let (mut times, clock) = match device_times.iter().any(|t| !t.is_zero()) {
        true => (device_times, Clock::Device),
        false if host_times.is_empty() => (host_runs(gpu, &bound, repeats)?, Clock::Host),
        false => (host_times, Clock::Host),
    };
    times.sort_unstable();

    let mut row = Row::new(
        instance,
        &gpu.capabilities().identity.to_string(),
        plan.variant,
    );
    let mut results = Vec::new();
    for (view, spec) in outputs.iter().zip(&plan.call.outputs) {
        let bytes = gpu
            .read(&view.buffer, 0, (spec.len() * spec.dtype.size()) as u64)
            .await?;
        results.push(HostTensor::from_bytes(spec.dtype, &spec.shape, &bytes)?);
    }
    row.judge(instance, results, None);
    for view in inputs.iter().flatten().chain(&outputs) {
        view.buffer.destroy();
    }
    Ok(Measurement { times, clock, row })
}

/// Times runs by the host's clock, one at a time.
fn host_runs(gpu: &Gpu, bound: &crate::plan::Bound, repeats: Repeats) -> Result<Vec<Duration>> {
    let mut times = Vec::new();
    for _ in 0..repeats.timed {
        let start = Instant::now();
        gpu.with_encoder(|encoder| bound.record(encoder));
        gpu.wait()?;
        times.push(start.elapsed());
    }
    Ok(times)
}

/// Times the CPU twin and verifies its output.
///
/// # Errors
/// Whatever the twin reports.
pub fn measure_cpu(instance: &Instance, repeats: Repeats) -> Result<Measurement> {
    let inputs = instance.inputs();
    let mut times = Vec::new();
    let mut results = Vec::new();
    for run in 0..repeats.warm_up + repeats.timed {
        drop(std::mem::take(&mut results));
        let start = Instant::now();
        results = instance.call.operation.cpu(&instance.call, &inputs)?;
        if run >= repeats.warm_up {
            times.push(start.elapsed());
        }
    }
    times.sort_unstable();
    let mut row = Row::new(instance, "cpu", Variant::Cpu);
    row.judge(instance, results, None);
    Ok(Measurement {
        times,
        clock: Clock::Host,
        row,
    })
}

/// Bytes a second, read and written, of the device's fastest way to copy `bytes`
/// (or as much as one binding holds): its own buffer copy, or the kernel that
/// copies (`cast` to the same dtype). Some drivers' buffer copies reach a fifth of
/// what kernels do.
///
/// # Errors
/// Whatever the device reports.
pub fn copy_bandwidth(gpu: &Gpu, bytes: u64) -> Result<f64> {
    use wgpu::BufferUsages as Usage;
    let bytes = bytes.min(gpu.capabilities().max_binding()) / 16 * 16;
    let [from, to] = ["copy source", "copy destination"].map(|what| {
        gpu.create_buffer(
            what,
            bytes,
            Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST,
        )
    });
    let (from, to) = (from?, to?);
    let by_buffer =
        |encoder: &mut wgpu::CommandEncoder| encoder.copy_buffer_to_buffer(&from, 0, &to, 0, bytes);
    let mut best = bandwidth(gpu, bytes, &by_buffer)?;

    let spec = TensorSpec::new(DType::F32, [(bytes / 4) as usize]);
    let params = Params::new().with("to", DType::F32.name());
    let call = Call::new(registry::find("cast")?, vec![Some(spec)], &params)?;
    for &variant in call.operation.signature().variants {
        let Ok(plan) = gpu.plan(&call, variant) else {
            continue;
        };
        let prepared = gpu.prepare_plan(plan)?;
        let scratch = gpu.scratch_for(prepared.plan())?;
        let bound = prepared.bind(
            &[Some(BufferView::new(&from))],
            &[BufferView::new(&to)],
            &scratch,
        )?;
        best = best.max(bandwidth(gpu, bytes, &|encoder| bound.record(encoder))?);
    }
    from.destroy();
    to.destroy();
    Ok(best)
}

/// Bytes a second, read and written, of a recorded copy: the median of five runs,
/// each of so many copies that submission and waiting do not count.
fn bandwidth(gpu: &Gpu, bytes: u64, record: &dyn Fn(&mut wgpu::CommandEncoder)) -> Result<f64> {
    let run = |copies: u32| -> Result<Duration> {
        let start = Instant::now();
        gpu.with_encoder(|encoder| (0..copies).for_each(|_| record(encoder)));
        gpu.wait()?;
        Ok(start.elapsed())
    };
    run(2)?;
    let once = run(1)?;
    let copies =
        (Duration::from_millis(20).as_nanos() / once.as_nanos().max(1)).clamp(1, 200) as u32;
    let mut times = (0..5).map(|_| run(copies)).collect::<Result<Vec<_>>>()?;
    times.sort_unstable();
    Ok(2.0 * bytes as f64 * copies as f64 / times[2].as_secs_f64())
}

/// What preparing and calling cost the host.
#[derive(Debug, Clone, Copy)]
pub struct Overhead {
    /// Planning, linking and creating pipelines, on a device that has none of them yet.
    pub first_use: Duration,
    /// The pipelines among it.
    pub pipelines: u32,
    /// The probe of the variants considered.
    pub probe: Duration,
    /// Recording one prepared operation on tensors, per call.
    pub call: Duration,
    /// Recording a bound plan again, per dispatch.
    pub record_per_dispatch: Duration,
    /// Buffers created in a steady loop of calls and reads.
    pub allocations: u64,
}

/// Measures what an instance's operation costs the host, on a device with empty caches.
///
/// # Errors
/// Whatever the device reports.
pub fn overhead(adapter: &wgpu::Adapter, instance: &Instance) -> Result<Overhead> {
    use crate::device::blocking::block_on;
    let device = crate::Device::from_gpu(
        block_on(Gpu::from_adapter(adapter))?,
        crate::Policy::default(),
    );
    let Some(gpu) = device.gpu() else {
        return Err(Error::NoAdapter("overheads are those of a GPU".into()));
    };
    let decision = block_on(gpu.prepare(&instance.call, device.policy()))?;
    let probe = gpu.prepared_report().probing;
    // A second device, so that the probe's pipelines do not count.
    let fresh = block_on(Gpu::from_adapter(adapter))?;
    let start = Instant::now();
    let plan = fresh.plan(&instance.call, decision.variant)?;
    let prepared = fresh.prepare_plan(plan)?;
    let first_use = start.elapsed();

    let mut tensors = Vec::new();
    for input in &instance.inputs() {
        tensors.push(
            input
                .map(|t| crate::Tensor::from_host(&device, t.clone()))
                .transpose()?,
        );
    }
    let views: Vec<Option<&crate::Tensor>> = tensors.iter().map(Option::as_ref).collect();
    let name = instance.call.name();
    let one = || crate::ops::call(name, &views, &instance.call.params);
    let rounds = 20;
    let calls = 100u32;
    let mut best = Duration::MAX;
    let mut created = 0;
    for round in 0..rounds {
        if round == rounds / 2 {
            created = gpu.pool_statistics().created;
        }
        let start = Instant::now();
        for _ in 0..calls {
            one()?;
        }
        best = best.min(start.elapsed() / calls);
        gpu.wait()?;
    }
    let allocations = gpu.pool_statistics().created - created;

    let dispatches = prepared.plan().steps.len().max(1) as u32;
    let mut inputs = Vec::new();
    for input in &instance.inputs() {
        inputs.push(match input {
            Some(t) => Some(BufferView::new(&fresh.create_buffer(
                "an input",
                (t.bytes().len() as u64).next_multiple_of(16).max(16),
                wgpu::BufferUsages::STORAGE,
            )?)),
            None => None,
        });
    }
    let mut outputs = Vec::new();
    for spec in &instance.call.outputs {
        let bytes = crate::plan::dense_bytes(spec.dtype, spec.len()).max(16);
        outputs.push(BufferView::new(&fresh.create_buffer(
            "an output",
            bytes,
            wgpu::BufferUsages::STORAGE,
        )?));
    }
    let bound = prepared.bind(&inputs, &outputs, &fresh.scratch_for(prepared.plan())?)?;
    let mut record = Duration::MAX;
    for _ in 0..rounds {
        let mut encoder = fresh
            .device()
            .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: None });
        let start = Instant::now();
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            for _ in 0..calls {
                bound.record_in_pass(&mut pass);
            }
        }
        record = record.min(start.elapsed() / (calls * dispatches));
        fresh.queue().submit([encoder.finish()]);
        fresh.wait()?;
    }
    Ok(Overhead {
        first_use,
        pipelines: fresh.prepared_report().pipelines,
        probe,
        call: best,
        record_per_dispatch: record,
        allocations,
    })
}

/// Pairs of timestamps.
struct Timestamps {
    set: wgpu::QuerySet,
    count: u32,
}

impl Timestamps {
    fn new(gpu: &Gpu, pairs: u32) -> Timestamps {
        let count = 2 * pairs;
        let set = gpu.device().create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("times"),
            ty: wgpu::QueryType::Timestamp,
            count,
        });
        Timestamps { set, count }
    }

    fn writes(&self, pair: u32) -> wgpu::ComputePassTimestampWrites<'_> {
        wgpu::ComputePassTimestampWrites {
            query_set: &self.set,
            beginning_of_pass_write_index: Some(2 * pair),
            end_of_pass_write_index: Some(2 * pair + 1),
        }
    }

    async fn read(&self, gpu: &Gpu) -> Result<Vec<Duration>> {
        use wgpu::BufferUsages as Usage;
        let bytes = self.count as u64 * 8;
        let resolved =
            gpu.create_buffer("timestamps", bytes, Usage::QUERY_RESOLVE | Usage::COPY_SRC)?;
        gpu.with_encoder(|encoder| {
            encoder.resolve_query_set(&self.set, 0..self.count, &resolved, 0)
        });
        let ticks = gpu.read(&resolved, 0, bytes).await?;
        let ticks: Vec<u64> = bytemuck::pod_collect_to_vec(&ticks);
        let period = gpu.queue().get_timestamp_period() as f64;
        let time = |pair: &[u64]| {
            Duration::from_nanos((pair[1].saturating_sub(pair[0]) as f64 * period) as u64)
        };
        Ok(ticks.chunks_exact(2).map(time).collect())
    }
}
