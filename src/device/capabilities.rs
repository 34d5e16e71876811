//! What a device can do, as plain data: plans are functions of it, and tests
//! lower its limits.

use crate::device::adapters;

/// Which adapter and driver: the key under which probes and tunings are kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AdapterIdentity {
    /// The adapter's name, as the driver gives it.
    pub name: String,
    /// `vulkan`, `metal`, `dx12`, `gl`, `browser`.
    pub backend: String,
    /// The driver's name and version.
    pub driver: String,
    /// `discrete`, `integrated`, `virtual`, `cpu` or `other`.
    pub kind: String,
}

impl AdapterIdentity {
    /// Reads the identity from wgpu's description.
    pub fn of(info: &wgpu::AdapterInfo) -> AdapterIdentity {
        let kind = match info.device_type {
            wgpu::DeviceType::DiscreteGpu => "discrete",
            wgpu::DeviceType::IntegratedGpu => "integrated",
            wgpu::DeviceType::VirtualGpu => "virtual",
            wgpu::DeviceType::Cpu => "cpu",
            wgpu::DeviceType::Other => "other",
        };
        let backend = match info.backend {
            wgpu::Backend::Vulkan => "vulkan",
            wgpu::Backend::Metal => "metal",
            wgpu::Backend::Dx12 => "dx12",
            wgpu::Backend::Gl => "gl",
            wgpu::Backend::BrowserWebGpu => "browser",
            wgpu::Backend::Noop => "noop",
        };
        AdapterIdentity {
            name: info.name.clone(),
            backend: backend.into(),
            driver: format!("{} {}", info.driver, info.driver_info)
                .trim()
                .into(),
            kind: kind.into(),
        }
    }
}

impl std::fmt::Display for AdapterIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} [{}]", self.name, self.backend)
    }
}

/// The sizes that a subgroup may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubgroupSizes {
    /// Invocations at least.
    pub min: u32,
    /// Invocations at most.
    pub max: u32,
}

/// One shape of matrix product that the adapter's matrix units do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CooperativeMatrix {
    /// Rows of the result.
    pub m: u32,
    /// Columns of the result.
    pub n: u32,
    /// The summed extent.
    pub k: u32,
    /// The dtype of the factors, in wgpu's words.
    pub factors: String,
    /// The dtype of the result, in wgpu's words.
    pub result: String,
}

/// Everything that plans may depend on, from the device, not the adapter.
#[derive(Debug, Clone, PartialEq)]
pub struct Capabilities {
    /// Which adapter and driver.
    pub identity: AdapterIdentity,
    /// The device's limits.
    pub limits: wgpu::Limits,
    /// Subgroup operations, where the device has them.
    pub subgroups: Option<SubgroupSizes>,
    /// f16 arithmetic in shaders. Storage in f16 works without.
    pub f16: bool,
    /// Timestamps at pass boundaries.
    pub timestamps: bool,
    /// Whether shaders can be compiled without run-time checks.
    pub unchecked_shaders: bool,
    /// Whether shaders are compiled by a browser: `enable subgroups;` is then required.
    pub browser: bool,
    /// Shapes of the matrix units.
    pub cooperative_matrices: Vec<CooperativeMatrix>,
}

impl Capabilities {
    /// Reads what a device can do.
    pub fn of(device: &wgpu::Device) -> Capabilities {
        let info = device.adapter_info();
        let features = device.features();
        let browser = info.backend == wgpu::Backend::BrowserWebGpu;
        // wgpu's web backend does not know the feature: there the page asks for
        // it, and subgroup sizes tell that it was granted.
        let subgroups = features.contains(wgpu::Features::SUBGROUP)
            || (browser && info.subgroup_min_size >= 4 && adapters::browser::subgroups());
        let mut identity = AdapterIdentity::of(&info);
        if identity.name.is_empty() {
            identity.name =
                adapters::browser::adapter_name().unwrap_or_else(|| "unnamed adapter".into());
        }
        // Browsers do not tell the type of an adapter, but that of their software one by its name.
        if browser && identity.name.to_lowercase().contains("swiftshader") {
            identity.kind = "cpu".into();
        }
        Capabilities {
            identity,
            limits: device.limits(),
            subgroups: subgroups.then_some(SubgroupSizes {
                min: info.subgroup_min_size.max(1),
                max: info.subgroup_max_size,
            }),
            f16: features.contains(wgpu::Features::SHADER_F16),
            timestamps: features.contains(wgpu::Features::TIMESTAMP_QUERY),
            unchecked_shaders: !browser,
            browser,
            cooperative_matrices: Vec::new(),
        }
    }

    /// WebGPU's default limits and no optional feature: what every conforming
    /// device has. Useful for planning without one.
    pub fn baseline() -> Capabilities {
        Capabilities {
            identity: AdapterIdentity {
                name: "baseline".into(),
                backend: "none".into(),
                driver: String::new(),
                kind: "other".into(),
            },
            limits: wgpu::Limits::default(),
            subgroups: None,
            f16: false,
            timestamps: false,
            unchecked_shaders: false,
            browser: false,
            cooperative_matrices: Vec::new(),
        }
    }

    /// Whether long kernels cost more to compile than they gain: on adapters that are a CPU.
    pub fn slow_compiler(&self) -> bool {
        self.identity.kind == "cpu"
    }

    /// The most workgroups of one dispatch, folded over two dimensions.
    pub fn max_workgroups(&self) -> u64 {
        (self.limits.max_compute_workgroups_per_dimension as u64).pow(2)
    }

    /// The most bytes that one storage binding holds.
    pub fn max_binding(&self) -> u64 {
        self.limits
            .max_storage_buffer_binding_size
            .min(self.limits.max_buffer_size)
    }
}
