//! `portcullis devices`: what is there, and what it can do.

use portcullis::gate::Effort;
use portcullis::{Gpu, Policy, device, registry};

use crate::table::table;
use crate::{Outcome, say};

#[derive(clap::Args)]
pub struct Arguments {
    /// Say for each operation and dtype which variant runs on each adapter, and
    /// why not a faster one. Compiles and probes, so it takes a while.
    #[arg(long)]
    variants: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub fn main(arguments: &Arguments) -> Outcome {
    let entries = pollster::block_on(device::enumerate());
    if entries.is_empty() && !arguments.json {
        say(crate::gate::NO_ADAPTER);
    }
    let mut listing = Vec::new();
    for entry in &entries {
        let gpu = match pollster::block_on(Gpu::from_adapter(&entry.adapter)) {
            Ok(gpu) => gpu,
            Err(error) => {
                if !arguments.json {
                    say(format!("{}: {}: {error}", entry.index, entry.identity));
                }
                listing.push(serde_json::json!({
                    "index": entry.index, "name": entry.identity.name, "error": error.to_string(),
                }));
                continue;
            }
        };
        let capabilities = gpu.capabilities();
        let limits = &capabilities.limits;
        let subgroups = capabilities.subgroups.map(|s| [s.min, s.max]);
        let variants = if arguments.variants {
            variants(&gpu)?
        } else {
            Vec::new()
        };
        if !arguments.json {
            say(format!(
                "{}: {} ({}, {})",
                entry.index, entry.identity, entry.identity.kind, entry.identity.driver
            ));
            let sizes = match subgroups {
                Some([min, max]) if min == max => format!("{min}"),
                Some([min, max]) => format!("{min} to {max}"),
                None => "none".into(),
            };
            say(format!(
                "   subgroups {sizes}; f16 {}; timestamps {}; binding {} MiB; buffer {} MiB; workgroup {} invocations, {} KiB",
                capabilities.f16,
                capabilities.timestamps,
                limits.max_storage_buffer_binding_size >> 20,
                limits.max_buffer_size >> 20,
                limits.max_compute_invocations_per_workgroup,
                limits.max_compute_workgroup_storage_size >> 10,
            ));
            if arguments.variants {
                let mut table = table(&["operation", "dtype", "variant", "why not a faster one"]);
                for row in &variants {
                    table.add_row(row);
                }
                say(table);
            }
        }
        listing.push(serde_json::json!({
            "index": entry.index,
            "name": entry.identity.name,
            "backend": entry.identity.backend,
            "driver": entry.identity.driver,
            "kind": entry.identity.kind,
            "subgroups": subgroups,
            "f16": capabilities.f16,
            "timestamps": capabilities.timestamps,
            "max_storage_buffer_binding_size": limits.max_storage_buffer_binding_size,
            "max_buffer_size": limits.max_buffer_size,
            "max_compute_invocations_per_workgroup": limits.max_compute_invocations_per_workgroup,
            "max_compute_workgroup_storage_size": limits.max_compute_workgroup_storage_size,
            "variants": variants.iter().map(|[op, dtype, variant, reason]| serde_json::json!({
                "op": op, "dtype": dtype, "variant": variant, "reason": reason,
            })).collect::<Vec<_>>(),
        }));
    }
    if arguments.json {
        say(serde_json::to_string_pretty(&listing)?);
    } else {
        say("cpu: the CPU twin of every operation");
    }
    Ok(true)
}

/// Operation, dtype, variant and reason, decided on the first problem of each.
fn variants(gpu: &Gpu) -> Result<Vec<[String; 4]>, portcullis::Error> {
    let mut rows = Vec::new();
    let bar = crate::table::progress(registry::OPERATIONS.len() as u64);
    for &op in registry::OPERATIONS.iter() {
        let signature = op.signature();
        bar.set_message(signature.name);
        for &dtype in signature.dtypes {
            let Some(problem) = op.problems(dtype, Effort::Standard).into_iter().next() else {
                continue;
            };
            let instance = problem.build(op, dtype)?;
            let decision = pollster::block_on(gpu.prepare(&instance.call, &Policy::default()))?;
            let reasons: Vec<String> = decision
                .rejected
                .iter()
                .map(|r| format!("{}: {}", r.variant, r.reason))
                .collect();
            rows.push([
                signature.name.into(),
                dtype.name().into(),
                decision.variant.name().into(),
                reasons.join("; "),
            ]);
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(rows)
}
