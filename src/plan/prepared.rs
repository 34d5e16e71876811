//! A plan with its pipelines.

use std::sync::Arc;

use wgpu::util::DeviceExt as _;

use crate::device::{Gpu, Pipeline};
use crate::error::Result;
use crate::operation::Variant;
use crate::plan::{Bound, BufferView, Param, Plan};

/// A plan whose kernels are compiled, ready to be bound to buffers any number
/// of times, from any thread.
#[derive(Clone)]
pub struct Prepared(Arc<Inner>);

struct Inner {
    gpu: Gpu,
    plan: Plan,
    pipelines: Vec<Arc<Pipeline>>,
    // Uniforms of all steps; `None` where offsets are only known when bound.
    uniforms: Option<wgpu::Buffer>,
    uniform_offsets: Vec<u64>,
}

impl Prepared {
    /// Compiles the kernels of a plan, or finds them compiled.
    pub(crate) fn new(gpu: &Gpu, plan: Plan) -> Result<Prepared> {
        let pipelines = plan
            .steps
            .iter()
            .map(|step| gpu.pipeline(&step.kernel))
            .collect::<Result<_>>()?;
        let alignment = gpu
            .capabilities()
            .limits
            .min_uniform_buffer_offset_alignment as u64;
        let mut uniform_offsets = Vec::with_capacity(plan.steps.len());
        let mut end = 0u64;
        for step in &plan.steps {
            uniform_offsets.push(end);
            end += (step.params.len() as u64 * 4).next_multiple_of(alignment);
        }
        let late = plan
            .steps
            .iter()
            .any(|s| s.params.iter().any(|p| matches!(p, Param::Offset(_))));
        let mut inner = Inner {
            gpu: gpu.clone(),
            plan,
            pipelines,
            uniforms: None,
            uniform_offsets,
        };
        if !late && !inner.plan.steps.is_empty() {
            inner.uniforms = Some(inner.uniforms(|_| 0)?);
        }
        Ok(Prepared(Arc::new(inner)))
    }

    /// What was planned.
    pub fn plan(&self) -> &Plan {
        &self.0.plan
    }

    /// The variant that runs.
    pub fn variant(&self) -> Variant {
        self.0.plan.variant
    }

    /// Where it runs.
    pub fn gpu(&self) -> &Gpu {
        &self.0.gpu
    }

    /// Creates the bind groups for these buffers, which then only need to be
    /// recorded. Inputs in the call's order, `None` where one is left out;
    /// scratch as [`Plan::scratch`] lists it, each in a buffer of its own
    /// ([`Gpu::scratch_for`] brings some).
    ///
    /// # Errors
    /// [`crate::Error::Buffer`] for a buffer that is too small, misaligned, without `STORAGE`
    /// usage, of another device, or that overlaps one it must not.
    pub fn bind(
        &self,
        inputs: &[Option<BufferView>],
        outputs: &[BufferView],
        scratch: &[BufferView],
    ) -> Result<Bound> {
        Bound::new(self, inputs, outputs, scratch)
    }

    pub(crate) fn pipelines(&self) -> &[Arc<Pipeline>] {
        &self.0.pipelines
    }

    pub(crate) fn uniform_offsets(&self) -> &[u64] {
        &self.0.uniform_offsets
    }

    /// The uniforms of all steps, written once at creation.
    pub(crate) fn uniforms_for(
        &self,
        offset: impl Fn(crate::plan::Slot) -> u32,
    ) -> Result<wgpu::Buffer> {
        match &self.0.uniforms {
            Some(buffer) => Ok(buffer.clone()),
            None => self.0.uniforms(offset),
        }
    }
}

impl Inner {
    fn uniforms(&self, offset: impl Fn(crate::plan::Slot) -> u32) -> Result<wgpu::Buffer> {
        let mut words: Vec<u32> = Vec::new();
        for (step, &at) in self.plan.steps.iter().zip(&self.uniform_offsets) {
            words.resize(at as usize / 4, 0);
            words.extend(step.params.iter().map(|p| match *p {
                Param::Word(w) => w,
                Param::Offset(slot) => offset(slot),
            }));
        }
        let bytes = words.len() as u64 * 4;
        self.gpu
            .catching(self.plan.call.name(), "parameters", bytes, |device| {
                device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
                    label: Some("portcullis parameters"),
                    contents: bytemuck::cast_slice(&words),
                    usage: wgpu::BufferUsages::UNIFORM,
                })
            })
    }
}
