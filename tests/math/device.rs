//! The least that runs a function of WGSL over words, on wgpu.

use pollster::block_on;
use wgpu::util::DeviceExt;

const WORKGROUP: u32 = 64;

pub struct Runner {
    pub name: String,
    device: wgpu::Device,
    queue: wgpu::Queue,
    layout: wgpu::BindGroupLayout,
    pipeline_layout: wgpu::PipelineLayout,
}

/// One runner for each Vulkan adapter; both software adapters unless
/// `VK_DRIVER_FILES` names others.
pub fn runners() -> Vec<Runner> {
    const SOFTWARE: &str =
        "/usr/share/vulkan/icd.d/lvp_icd.json:/usr/lib/chromium/vk_swiftshader_icd.json";
    if std::env::var_os("VK_DRIVER_FILES").is_none() {
        // SAFETY: the one writer, before the Vulkan loader, which is the one
        // reader outside std's lock, is loaded by the lines below.
        unsafe { std::env::set_var("VK_DRIVER_FILES", SOFTWARE) };
    }
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::VULKAN;
    let instance = wgpu::Instance::new(descriptor);
    block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN))
        .iter()
        .map(Runner::new)
        .collect()
}

impl Runner {
    fn new(adapter: &wgpu::Adapter) -> Runner {
        let (device, queue) = block_on(adapter.request_device(&wgpu::DeviceDescriptor::default()))
            .expect("default limits");
        let entry = |binding, read_only| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &[entry(0, true), entry(1, false)],
        });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        Runner {
            name: adapter.get_info().name,
            device,
            queue,
            layout,
            pipeline_layout,
        }
    }

    /// The value of `expression` for every triple of words.
    pub fn run(&self, library: &str, expression: &str, inputs: &[[u32; 3]]) -> Vec<u32> {
        let source = format!(
            "{library}
            @group(0) @binding(0) var<storage, read> inputs: array<u32>;
            @group(0) @binding(1) var<storage, read_write> outputs: array<u32>;
            @compute @workgroup_size({WORKGROUP})
            fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                if id.x >= arrayLength(&outputs) {{ return; }}
                let a = inputs[3u * id.x];
                let b = inputs[3u * id.x + 1u];
                let c = inputs[3u * id.x + 2u];
                outputs[id.x] = {expression};
            }}"
        );
        let module = self
            .device
            .create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(expression),
                source: wgpu::ShaderSource::Wgsl(source.into()),
            });
        let pipeline = self
            .device
            .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(expression),
                layout: Some(&self.pipeline_layout),
                module: &module,
                entry_point: Some("main"),
                compilation_options: Default::default(),
                cache: None,
            });
        let input = self
            .device
            .create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: None,
                contents: bytemuck::cast_slice(inputs),
                usage: wgpu::BufferUsages::STORAGE,
            });
        let size = 4 * inputs.len() as u64;
        let buffer = |usage| {
            self.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage,
                mapped_at_creation: false,
            })
        };
        let output = buffer(wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC);
        let staging = buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.layout,
            entries: &[
                wgpu::BindGroupEntry {
                    binding: 0,
                    resource: input.as_entire_binding(),
                },
                wgpu::BindGroupEntry {
                    binding: 1,
                    resource: output.as_entire_binding(),
                },
            ],
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups((inputs.len() as u32).div_ceil(WORKGROUP), 1, 1);
        }
        encoder.copy_buffer_to_buffer(&output, 0, &staging, 0, size);
        self.queue.submit([encoder.finish()]);
        staging.map_async(wgpu::MapMode::Read, .., |result| result.expect("mapping"));
        self.device
            .poll(wgpu::PollType::wait_indefinitely())
            .expect("polling");
        let range = staging.get_mapped_range(..).expect("mapped");
        bytemuck::cast_slice(&range).to_vec()
    }
}
