//! Finding adapters, and what to ask of them.

use crate::device::AdapterIdentity;
use crate::error::{Error, Result};

/// One adapter of this machine.
pub struct AdapterEntry {
    /// Its place in the list, for [`Selector::Index`].
    pub index: usize,
    /// Name, backend and driver.
    pub identity: AdapterIdentity,
    /// wgpu's handle.
    pub adapter: wgpu::Adapter,
}

impl AdapterEntry {
    /// Whether the name, backend or driver contains `text`, in any case.
    pub fn matches(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let identity = &self.identity;
        [&identity.name, &identity.backend, &identity.driver]
            .iter()
            .any(|s| s.to_lowercase().contains(&text))
    }
}

/// Which adapter to use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Selector {
    /// The best: discrete before integrated before virtual before software,
    /// and Vulkan, Metal or DX12 before GL. `PORTCULLIS_ADAPTER` (an index, a
    /// part of the name or backend, or `cpu`) overrides it.
    #[default]
    Best,
    /// The adapter of this place in [`enumerate`]'s list.
    Index(usize),
    /// The first adapter whose name, backend or driver contains this text, in any case.
    Name(String),
    /// No adapter: the CPU twins.
    Cpu,
}

impl Selector {
    /// Reads `cpu`, an index, or a part of a name.
    pub fn parse(text: &str) -> Selector {
        match text.trim() {
            "" => Selector::Best,
            t if t.eq_ignore_ascii_case("cpu") => Selector::Cpu,
            t => t
                .parse()
                .map(Selector::Index)
                .unwrap_or_else(|_| Selector::Name(t.into())),
        }
    }
}

/// Environment variable that selects the adapter.
pub(crate) const ADAPTER_VARIABLE: &str = "PORTCULLIS_ADAPTER";

/// Every adapter of this machine, best first. Empty where there is none.
pub async fn enumerate() -> Vec<AdapterEntry> {
    let mut adapters = all_adapters().await;
    adapters.sort_by_key(|adapter| rank(&adapter.get_info()));
    let entry = |(index, adapter): (usize, wgpu::Adapter)| AdapterEntry {
        index,
        identity: AdapterIdentity::of(&adapter.get_info()),
        adapter,
    };
    adapters.into_iter().enumerate().map(entry).collect()
}

/// The entry that a selector names; `None` for the CPU, or where `Best` finds no adapter.
///
/// # Errors
/// [`Error::NoAdapter`] when an index or name was given that no adapter has.
pub(crate) async fn select(selector: &Selector) -> Result<Option<AdapterEntry>> {
    let selector = match selector {
        Selector::Best => Selector::parse(&std::env::var(ADAPTER_VARIABLE).unwrap_or_default()),
        other => other.clone(),
    };
    if selector == Selector::Cpu {
        return Ok(None);
    }
    let entries = enumerate().await;
    let listing: Vec<String> = entries
        .iter()
        .map(|e| format!("{}: {}", e.index, e.identity))
        .collect();
    let found = match &selector {
        Selector::Index(i) => entries.into_iter().nth(*i),
        Selector::Name(name) => entries.into_iter().find(|e| e.matches(name)),
        _ => return Ok(entries.into_iter().next()),
    };
    found.map(Some).ok_or_else(|| {
        let asked = match &selector {
            Selector::Index(i) => format!("index {i}"),
            Selector::Name(name) => format!("the name `{name}`"),
            _ => "that".into(),
        };
        let listing = if listing.is_empty() {
            "there is none".into()
        } else {
            listing.join("; ")
        };
        Error::NoAdapter(format!(
            "none has {asked}; this machine's adapters: {listing}"
        ))
    })
}

fn rank(info: &wgpu::AdapterInfo) -> (u8, u8) {
    let kind = match info.device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    };
    (kind, (info.backend == wgpu::Backend::Gl) as u8)
}

#[cfg(not(target_arch = "wasm32"))]
async fn all_adapters() -> Vec<wgpu::Adapter> {
    instance().enumerate_adapters(wgpu::Backends::all()).await
}

// Browsers do not enumerate: they offer one adapter.
#[cfg(target_arch = "wasm32")]
async fn all_adapters() -> Vec<wgpu::Adapter> {
    let options = wgpu::RequestAdapterOptions {
        power_preference: wgpu::PowerPreference::HighPerformance,
        ..Default::default()
    };
    instance()
        .request_adapter(&options)
        .await
        .into_iter()
        .collect()
}

fn instance() -> wgpu::Instance {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    // Debug builds of wgpu ask for validation layers and labels by default, whose
    // absence fills the log and which break some DX12 compilers.
    descriptor.flags = wgpu::InstanceFlags::empty();
    wgpu::Instance::new(descriptor)
}

/// The features and limits to ask for when creating a device of one's own for
/// this library: everything that the adapter has and kernels can use.
///
/// ```no_run
/// # async fn example(adapter: wgpu::Adapter) -> Result<(), Box<dyn std::error::Error>> {
/// let (features, limits) = portcullis::device_requirements(&adapter);
/// let (device, queue) = adapter
///     .request_device(&wgpu::DeviceDescriptor {
///         required_features: features, // with the features of your own
///         required_limits: limits,
///         ..Default::default()
///     })
///     .await?;
/// let gpu = portcullis::Gpu::from_device(device, queue);
/// # Ok(())
/// # }
/// # use portcullis::wgpu;
/// ```
pub fn device_requirements(adapter: &wgpu::Adapter) -> (wgpu::Features, wgpu::Limits) {
    let useful =
        wgpu::Features::SUBGROUP | wgpu::Features::SHADER_F16 | wgpu::Features::TIMESTAMP_QUERY;
    (adapter.features() & useful, adapter.limits())
}

/// What the page asked for, or knows, on behalf of wgpu's web backend (see `web/adapter.js`).
#[cfg(all(target_arch = "wasm32", feature = "web"))]
pub(crate) mod browser {
    fn global(name: &str) -> Option<js_sys::wasm_bindgen::JsValue> {
        js_sys::Reflect::get(&js_sys::global(), &name.into()).ok()
    }

    /// Whether the device was requested with subgroups.
    pub fn subgroups() -> bool {
        global("portcullisSubgroups").is_some_and(|v| v.as_bool() == Some(true))
    }

    /// The adapter's vendor and architecture.
    pub fn adapter_name() -> Option<String> {
        global("portcullisAdapter")?.as_string()
    }
}

/// Outside browsers wgpu needs no help.
#[cfg(not(all(target_arch = "wasm32", feature = "web")))]
pub(crate) mod browser {
    pub fn subgroups() -> bool {
        false
    }

    pub fn adapter_name() -> Option<String> {
        None
    }
}
