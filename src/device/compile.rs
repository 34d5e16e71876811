//! From a kernel to a pipeline. The only place that compiles without run-time checks.

use std::sync::{Arc, OnceLock};

use crate::device::Gpu;
use crate::error::{Error, Result};
use crate::plan::Kernel;

/// A compiled kernel.
pub(crate) struct Pipeline {
    pub pipeline: wgpu::ComputePipeline,
    pub layout: wgpu::BindGroupLayout,
    /// Why the device refused it, once that is known: in browsers after it was cached.
    pub refused: Arc<OnceLock<Error>>,
}

impl Gpu {
    /// Compiles linked text as `kernel`'s pipeline.
    pub(crate) fn compile(&self, kernel: &Kernel, text: &str) -> Result<Pipeline> {
        let device = self.device();
        let label = Some(kernel.root);
        let scopes = [wgpu::ErrorFilter::Internal, wgpu::ErrorFilter::Validation]
            .map(|filter| device.push_error_scope(filter));
        let turn = self.turn();
        let descriptor = wgpu::ShaderModuleDescriptor {
            label,
            source: wgpu::ShaderSource::Wgsl(text.into()),
        };
        let module = if kernel.unchecked {
            // SAFETY: `unchecked` is set only by `StepBuilder::unchecked`, whose callers
            // prove beside their plan that every index of the kernel is in range and
            // every loop ends for every problem that the plan accepts; bindings are at
            // least as long as the plan's shapes say, which `Bound::new` checks.
            unsafe {
                device.create_shader_module_trusted(
                    descriptor,
                    wgpu::ShaderRuntimeChecks::unchecked(),
                )
            }
        } else {
            device.create_shader_module(descriptor)
        };
        let storage = |(i, read_only): (usize, bool)| wgpu::BindGroupLayoutEntry {
            binding: i as u32 + 1,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let mut entries = vec![wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        }];
        let read_only = kernel
            .bindings
            .iter()
            .map(|b| b.read_only() && !kernel.shared_buffers);
        entries.extend(read_only.enumerate().map(storage));
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label,
            entries: &entries,
        });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label,
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &[],
                zero_initialize_workgroup_memory: !kernel.unzeroed,
            },
            cache: None,
        });
        drop(turn);
        let [internal, validation] = scopes;
        let root = kernel.root;
        let refused = Arc::new(OnceLock::new());
        let record = |refused: Arc<OnceLock<Error>>| {
            move |error: wgpu::Error| {
                let error = Error::Kernel {
                    kernel: root.into(),
                    message: error.to_string(),
                };
                refused.get_or_init(|| error).clone()
            }
        };
        // Scopes are a stack: the last pushed is popped first. Both are always popped.
        let errors = [
            self.pop(validation, record(refused.clone())),
            self.pop(internal, record(refused.clone())),
        ];
        match errors.into_iter().flatten().next() {
            Some(error) => Err(error),
            None => Ok(Pipeline {
                pipeline,
                layout,
                refused,
            }),
        }
    }
}
