//! A prepared plan on given buffers.

use crate::error::{Error, Result};
use crate::plan::{Prepared, Slot};
use crate::spec::{Alignment, TensorSpec};

/// A tensor's place in a buffer: where its first element (indices all 0) lies.
#[derive(Debug, Clone)]
pub struct BufferView {
    /// The buffer, with `STORAGE` usage.
    pub buffer: wgpu::Buffer,
    /// The first element's distance from the buffer's start, in bytes.
    pub offset: u64,
}

impl BufferView {
    /// The view that starts where the buffer does.
    pub fn new(buffer: &wgpu::Buffer) -> BufferView {
        BufferView {
            buffer: buffer.clone(),
            offset: 0,
        }
    }

    /// The view that starts `offset` bytes into the buffer.
    pub fn at(buffer: &wgpu::Buffer, offset: u64) -> BufferView {
        BufferView {
            buffer: buffer.clone(),
            offset,
        }
    }
}

/// The bytes of a buffer that a slot binds, and the view's place in them.
#[derive(Clone)]
struct Binding {
    buffer: wgpu::Buffer,
    start: u64,
    end: u64,
    /// Elements from the binding's start to the view's first element.
    offset: u32,
    /// The bytes that hold elements: what may not overlap.
    used: (u64, u64),
}

/// A plan bound to buffers. Recording it allocates, compiles, probes, submits
/// and waits for nothing; it can be recorded any number of times.
pub struct Bound {
    prepared: Prepared,
    groups: Vec<wgpu::BindGroup>,
}

impl Bound {
    pub(crate) fn new(
        prepared: &Prepared,
        inputs: &[Option<BufferView>],
        outputs: &[BufferView],
        scratch: &[BufferView],
    ) -> Result<Bound> {
        let plan = prepared.plan();
        let call = &plan.call;
        let operation = call.name();
        let count = |what: &str, given: usize, expected: usize| {
            (given == expected)
                .then_some(())
                .ok_or_else(|| Error::Inputs {
                    operation: operation.into(),
                    problem: format!("{given} {what} were bound, the plan has {expected}"),
                })
        };
        count("inputs", inputs.len(), call.inputs.len())?;
        count("outputs", outputs.len(), call.outputs.len())?;
        count("scratch buffers", scratch.len(), plan.scratch.len())?;

        let alignment = prepared
            .gpu()
            .capabilities()
            .limits
            .min_storage_buffer_offset_alignment as u64;
        let signature = call.operation.signature();
        let mut bound_inputs = Vec::with_capacity(inputs.len());
        for (i, (view, spec)) in inputs.iter().zip(&call.inputs).enumerate() {
            bound_inputs.push(match (view, spec) {
                (Some(view), Some(spec)) => {
                    bind_tensor(operation, &signature.input_name(i), view, spec, alignment)?
                }
                (None, None) => None,
                (None, Some(_)) => {
                    return Err(buffer_error(
                        operation,
                        &signature.input_name(i),
                        "is missing",
                    ));
                }
                (Some(_), None) => {
                    return Err(buffer_error(
                        operation,
                        &signature.input_name(i),
                        "was planned as left out",
                    ));
                }
            });
        }
        let mut bound_outputs = Vec::with_capacity(outputs.len());
        for (i, (view, spec)) in outputs.iter().zip(&call.outputs).enumerate() {
            bound_outputs.push(bind_tensor(
                operation,
                signature.outputs[i].name,
                view,
                spec,
                alignment,
            )?);
        }
        let mut bound_scratch = Vec::with_capacity(scratch.len());
        for (view, spec) in scratch.iter().zip(&plan.scratch) {
            let bytes = TensorSpec::new(crate::DType::U32, [spec.bytes as usize / 4]);
            bound_scratch.push(bind_tensor(operation, spec.name, view, &bytes, alignment)?);
        }
        check_overlap(prepared, &bound_inputs, &bound_outputs, &bound_scratch)?;

        let slot = |slot: Slot| match slot {
            Slot::Input(i) => bound_inputs[i].as_ref(),
            Slot::Output(i) => bound_outputs[i].as_ref(),
            Slot::Scratch(i) => bound_scratch[i].as_ref(),
        };
        let uniforms = match plan.steps.is_empty() {
            true => None,
            false => Some(prepared.uniforms_for(|s| slot(s).map_or(0, |b| b.offset))?),
        };
        let mut groups = Vec::with_capacity(plan.steps.len());
        for (i, step) in plan.steps.iter().enumerate() {
            let uniforms = uniforms.as_ref().expect("a plan with steps has uniforms");
            let mut entries = Vec::with_capacity(step.slots.len() + 1);
            entries.push(wgpu::BindGroupEntry {
                binding: 0,
                resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer: uniforms,
                    offset: prepared.uniform_offsets()[i],
                    size: std::num::NonZeroU64::new(step.params.len() as u64 * 4),
                }),
            });
            for (k, s) in step.slots.iter().enumerate() {
                let Some(binding) = slot(*s) else {
                    return Err(Error::Kernel {
                        kernel: step.kernel.root.into(),
                        message: format!(
                            "the plan of {call} binds an empty tensor as `{}`",
                            step.kernel.bindings[k].name
                        ),
                    });
                };
                entries.push(wgpu::BindGroupEntry {
                    binding: k as u32 + 1,
                    resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                        buffer: &binding.buffer,
                        offset: binding.start,
                        size: std::num::NonZeroU64::new(binding.end - binding.start),
                    }),
                });
            }
            let layout = &prepared.pipelines()[i].layout;
            let group = prepared
                .gpu()
                .catching(operation, "bindings", 0, |device| {
                    device.create_bind_group(&wgpu::BindGroupDescriptor {
                        label: None,
                        layout,
                        entries: &entries,
                    })
                })?;
            groups.push(group);
        }
        Ok(Bound {
            prepared: prepared.clone(),
            groups,
        })
    }

    /// The prepared plan.
    pub fn prepared(&self) -> &Prepared {
        &self.prepared
    }

    /// Records the dispatches into a compute pass of their own.
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        if self.groups.is_empty() {
            return;
        }
        let label = Some(self.prepared.plan().call.name());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label,
            timestamp_writes: None,
        });
        self.record_in_pass(&mut pass);
    }

    /// Records the dispatches into the caller's compute pass. Sets the pass's
    /// pipeline and bind group 0.
    pub fn record_in_pass(&self, pass: &mut wgpu::ComputePass<'_>) {
        let steps = &self.prepared.plan().steps;
        for ((step, pipeline), group) in steps
            .iter()
            .zip(self.prepared.pipelines())
            .zip(&self.groups)
        {
            pass.set_pipeline(&pipeline.pipeline);
            pass.set_bind_group(0, group, &[]);
            let [x, y, z] = step.workgroups;
            pass.dispatch_workgroups(x, y, z);
        }
    }
}

fn buffer_error(operation: &str, slot: &str, problem: impl Into<String>) -> Error {
    Error::Buffer {
        operation: operation.into(),
        slot: slot.into(),
        problem: problem.into(),
    }
}

/// Finds the range to bind for a tensor's view; `None` for an empty tensor.
fn bind_tensor(
    operation: &str,
    name: &str,
    view: &BufferView,
    spec: &TensorSpec,
    alignment: u64,
) -> Result<Option<Binding>> {
    let error = |problem: String| Err(buffer_error(operation, name, problem));
    let Some((low, high)) = spec.extent() else {
        return Ok(None);
    };
    if !view.buffer.usage().contains(wgpu::BufferUsages::STORAGE) {
        return error("was created without the usage `STORAGE`".into());
    }
    let size = spec.dtype.size() as u64;
    let available = view.buffer.size();
    if !view.offset.is_multiple_of(size) {
        return error(format!(
            "starts {} bytes into its buffer, not at a multiple of {size}",
            view.offset
        ));
    }
    let first = view.offset as i128 + low as i128 * size as i128;
    let end = view.offset as i128 + (high as i128 + 1) * size as i128;
    if first < 0 || end > available as i128 {
        return error(format!(
            "needs the bytes {first}..{end} ({spec_shape:?} of {}, {} bytes into the buffer); the buffer has {available}",
            spec.dtype,
            view.offset,
            spec_shape = spec.shape,
        ));
    }
    let (first, end) = (first as u64, end as u64);
    let (start, stop) = match spec.alignment {
        Alignment::Binding if spec.is_dense() => {
            let stop = end.next_multiple_of(16);
            if !view.offset.is_multiple_of(alignment) || stop > available {
                return error(format!(
                    "starts {} bytes into a buffer of {available}; this plan needs a start at a multiple of {alignment} and {} bytes behind the view up to a multiple of 16. Plan with `TensorSpec::unaligned`",
                    view.offset,
                    stop - end,
                ));
            }
            (first, stop)
        }
        _ => {
            let stop = end.next_multiple_of(4);
            if stop > available {
                return error(format!(
                    "ends within a 32-bit word; its buffer must hold the whole word ({stop} bytes)"
                ));
            }
            (first / alignment * alignment, stop)
        }
    };
    let offset = u32::try_from((view.offset - start) / size).map_err(|_| {
        buffer_error(
            operation,
            name,
            "spans more than 2^32 elements; split it along its first axis",
        )
    })?;
    Ok(Some(Binding {
        buffer: view.buffer.clone(),
        start,
        end: stop,
        offset,
        used: (first, end),
    }))
}

/// Refuses ranges that a dispatch would write while another of its bindings sees them.
fn check_overlap(
    prepared: &Prepared,
    inputs: &[Option<Binding>],
    outputs: &[Option<Binding>],
    scratch: &[Option<Binding>],
) -> Result<()> {
    let call = &prepared.plan().call;
    let signature = call.operation.signature();
    let named_outputs = || {
        outputs
            .iter()
            .enumerate()
            .filter_map(|(i, b)| Some((signature.outputs[i].name, b.as_ref()?)))
    };
    let named_scratch = || {
        let specs = &prepared.plan().scratch;
        scratch
            .iter()
            .enumerate()
            .filter_map(move |(i, b)| Some((specs[i].name, b.as_ref()?)))
    };
    let overlap = |a: &Binding, b: &Binding| {
        a.buffer == b.buffer && a.used.0 < b.used.1 && b.used.0 < a.used.1
    };
    for (i, input) in inputs.iter().enumerate() {
        let Some(input) = input else { continue };
        let name = signature.input_name(i);
        for (output_name, output) in named_outputs() {
            if overlap(input, output) {
                let problem = format!(
                    "overlaps output `{output_name}`; operations do not work in place, bind another range"
                );
                return Err(buffer_error(call.name(), &name, problem));
            }
            if input.buffer == output.buffer && !call.shared_buffers {
                let problem = format!(
                    "lies in the same buffer as output `{output_name}`; plan with `Call::with_shared_buffers`"
                );
                return Err(buffer_error(call.name(), &name, problem));
            }
        }
        for (scratch_name, scratch) in named_scratch() {
            if input.buffer == scratch.buffer {
                let problem = format!(
                    "lies in the same buffer as scratch `{scratch_name}`; scratch needs buffers of its own"
                );
                return Err(buffer_error(call.name(), &name, problem));
            }
        }
    }
    let named = |scratch: bool| move |(name, binding)| (name, binding, scratch);
    let writable: Vec<(&str, &Binding, bool)> = named_outputs()
        .map(named(false))
        .chain(named_scratch().map(named(true)))
        .collect();
    for (i, (name, a, _)) in writable.iter().enumerate() {
        for (other, b, scratch) in &writable[i + 1..] {
            // Scratch is read by one binding while another is written: never in one buffer.
            if overlap(a, b) || (*scratch && a.buffer == b.buffer) {
                let problem = format!("shares its buffer with `{other}`, and both are written");
                return Err(buffer_error(call.name(), name, problem));
            }
        }
    }
    Ok(())
}
