//! What tests of several families share: every place where operations run.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::sync::OnceLock;

use portcullis::{Device, Gpu, Policy, Variant, device};

/// One device an adapter of this machine, opened once for the whole test program.
pub fn gpus() -> &'static [Gpu] {
    static GPUS: OnceLock<Vec<Gpu>> = OnceLock::new();
    GPUS.get_or_init(|| {
        let open =
            |entry: device::AdapterEntry| pollster::block_on(Gpu::from_adapter(&entry.adapter));
        let entries = pollster::block_on(device::enumerate());
        entries
            .into_iter()
            .map(|entry| open(entry).expect("an adapter that is listed opens"))
            .collect()
    })
}

/// Every adapter with each of these variants forced, and the CPU.
pub fn backends_of(variants: &[Variant]) -> Vec<(String, Device)> {
    let mut backends = vec![("cpu".to_string(), Device::cpu())];
    for gpu in gpus() {
        for &variant in variants.iter().filter(|v| **v != Variant::Cpu) {
            let subgroups = gpu.capabilities().subgroups.is_some();
            if variant == Variant::Subgroup && !subgroups {
                continue;
            }
            let name = format!("{} {variant}", gpu.capabilities().identity);
            backends.push((name, Device::from_gpu(gpu.clone(), Policy::force(variant))));
        }
    }
    backends
}

/// Every adapter by its portable and subgroup variants, and the CPU.
pub fn backends() -> Vec<(String, Device)> {
    backends_of(&[Variant::Portable, Variant::Subgroup])
}
