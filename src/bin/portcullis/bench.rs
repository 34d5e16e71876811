//! `portcullis bench`: speed, of verified outputs only.

use std::path::PathBuf;
use std::time::Duration;

use portcullis::gate::{
    Clock, Effort, Instance, Measurement, Repeats, Selection, copy_bandwidth, measure, measure_cpu,
    overhead,
};
use portcullis::{DType, Error, Variant, device, registry};

use crate::table::{progress, table};
use crate::{Outcome, say};

#[derive(clap::Args)]
pub struct Arguments {
    /// Operations or families; a name may end in `*`. All when none is given.
    operations: Vec<String>,
    /// Sizes: problems of about 2^N elements. By default 2^26 on GPUs, 2^18 on software adapters, 2^22 on the CPU.
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(0..=31))]
    log2: Vec<u32>,
    /// Only these dtypes. By default the first of each operation.
    #[arg(long = "dtype", value_delimiter = ',', value_parser = crate::gate::parse_dtype)]
    dtypes: Vec<DType>,
    /// Only these variants. By default every one that there is.
    #[arg(long = "variant", value_delimiter = ',', value_parser = crate::gate::parse_variant)]
    variants: Vec<Variant>,
    /// Only these adapters: an index, or a part of the name, backend or driver; `cpu` for the CPU twins.
    #[arg(long = "adapter", value_delimiter = ',')]
    adapters: Vec<String>,
    /// Timed runs of each problem, after a tenth as many that warm up.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=2000))]
    repeat: u32,
    /// Measure what calls cost the host instead: first use, probe, calls, recording, allocations.
    #[arg(long)]
    overhead: bool,
    /// Write every figure as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub fn main(arguments: &Arguments) -> Outcome {
    let selection = Selection {
        operations: arguments.operations.clone(),
        dtypes: arguments.dtypes.clone(),
        variants: arguments.variants.clone(),
        cases: Vec::new(),
        effort: Effort::Quick,
    };
    // An operation that does not exist is an error before anything runs.
    selection.items()?;
    if arguments.overhead {
        return overheads(arguments, &selection);
    }
    let (gpus, failed) = crate::gate::open_adapters(&arguments.adapters)?;
    for row in &failed {
        say(format!("{}: {}", row.adapter, row.note));
    }
    let mut figures = Vec::new();
    let mut sound = failed.is_empty();
    for gpu in &gpus {
        let capabilities = gpu.capabilities();
        let software = capabilities.identity.kind == "cpu";
        let copy = copy_bandwidth(gpu, if software { 1 << 26 } else { 1 << 30 })?;
        say(format!(
            "{}: copies {:.1} GB/s (read and write)",
            capabilities.identity,
            copy / 1e9
        ));
        let sizes = sizes(arguments, if software { 18 } else { 26 });
        let mut sheet = Sheet::new(Some(copy));
        Sheet::headings();
        each_problem(&selection, &sizes, |instance| {
            for &variant in instance.call.operation.signature().variants {
                if variant == Variant::Cpu || !selection.takes(variant) {
                    continue;
                }
                let run = |plan| {
                    let prepared = gpu.prepare_plan(plan)?;
                    let repeats = repeats(arguments, software);
                    pollster::block_on(measure(gpu, &prepared, instance, repeats))
                };
                let measured = gpu.plan(&instance.call, variant).and_then(run);
                sound &= sheet.add(instance, variant.name(), measured);
            }
            Ok(())
        })?;
        figures.extend(sheet.json(&capabilities.identity.to_string(), Some(copy)));
    }
    if selection.takes(Variant::Cpu) && crate::gate::takes_cpu(&arguments.adapters) {
        say("cpu:");
        let mut sheet = Sheet::new(None);
        Sheet::headings();
        each_problem(&selection, &sizes(arguments, 22), |instance| {
            sound &= sheet.add(
                instance,
                "cpu",
                measure_cpu(instance, repeats(arguments, false)),
            );
            Ok(())
        })?;
        figures.extend(sheet.json("cpu", None));
    }
    write_json(arguments, &figures)?;
    Ok(sound)
}

fn write_json(
    arguments: &Arguments,
    figures: &[serde_json::Value],
) -> Result<(), Box<dyn std::error::Error>> {
    let Some(path) = &arguments.json else {
        return Ok(());
    };
    let text = serde_json::to_string_pretty(figures)? + "\n";
    Ok(std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))?)
}

fn sizes(arguments: &Arguments, default: u32) -> Vec<u32> {
    if arguments.log2.is_empty() {
        vec![default]
    } else {
        arguments.log2.clone()
    }
}

fn repeats(arguments: &Arguments, software: bool) -> Repeats {
    // Software adapters neither clock up nor have caches to warm.
    let timed = if software {
        arguments.repeat.min(5)
    } else {
        arguments.repeat
    };
    Repeats {
        warm_up: timed.div_ceil(10),
        timed,
    }
}

/// Builds the bench problem of every operation and dtype selected, at every size.
fn each_problem(
    selection: &Selection,
    sizes: &[u32],
    mut f: impl FnMut(&Instance) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut chosen = Vec::new();
    for item in selection.items()? {
        let of_dtype = (item.operation.signature().name, item.dtype);
        // Without --dtype the first that an operation takes stands for all.
        let first =
            selection.dtypes.is_empty() && chosen.iter().any(|(name, _)| *name == of_dtype.0);
        if !first && !chosen.contains(&of_dtype) {
            chosen.push(of_dtype);
        }
    }
    let bar = progress((chosen.len() * sizes.len()) as u64);
    for (name, dtype) in chosen {
        let operation = registry::find(name)?;
        for &log2_size in sizes {
            bar.set_message(format!("{name} {dtype} 2^{log2_size}"));
            if let Some(problem) = operation.bench_problem(dtype, log2_size) {
                f(&problem.build(operation, dtype)?)?;
            }
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    Ok(())
}

/// The figures of one adapter.
struct Sheet {
    copy: Option<f64>,
    lines: Vec<Line>,
}

struct Line {
    op: String,
    case: String,
    dtype: String,
    variant: String,
    bytes: u64,
    flops: u64,
    elements: u64,
    measured: Result<Measurement, Error>,
}

impl Sheet {
    fn new(copy: Option<f64>) -> Sheet {
        Sheet {
            copy,
            lines: Vec::new(),
        }
    }

    /// Adds a figure; whether nothing is wrong with it.
    fn add(
        &mut self,
        instance: &Instance,
        variant: &str,
        measured: Result<Measurement, Error>,
    ) -> bool {
        let cost = instance.call.operation.cost(&instance.call);
        let sound = match &measured {
            Ok(measured) => measured.row.passed(),
            Err(Error::Unavailable { .. } | Error::Limit { .. }) => true,
            Err(_) => false,
        };
        let elements = instance
            .call
            .inputs
            .iter()
            .flatten()
            .map(|s| s.len() as u64)
            .max();
        self.lines.push(Line {
            op: instance.call.name().into(),
            case: instance.name.clone(),
            dtype: instance.dtype.name().into(),
            variant: variant.into(),
            bytes: cost.bytes,
            flops: cost.flops,
            elements: elements.unwrap_or(0),
            measured,
        });
        self.print();
        sound
    }

    /// Prints the headings that [`Sheet::print`]'s lines stand under.
    fn headings() {
        say(format!(
            "  {:<22} {:<5} {:<20} {:<9} {:>11}  {:<24} {:>8} {:>8} {:>9} {:>8}",
            "operation",
            "dtype",
            "problem",
            "variant",
            "median",
            "spread",
            "GB/s",
            "of copy",
            "Gelem/s",
            "TFLOP/s"
        ));
    }

    /// Prints the last figure, as soon as there is one: long benches are watched.
    fn print(&self) {
        let Some(line) = self.lines.last() else {
            return;
        };
        let start = format!(
            "  {:<22} {:<5} {:<20} {:<9}",
            line.op, line.dtype, line.case, line.variant
        );
        match &line.measured {
            Ok(measured) if measured.row.passed() => {
                let seconds = measured.median().as_secs_f64();
                let bandwidth = line.bytes as f64 / seconds;
                let spread = format!(
                    "{} to {}",
                    time(measured.quantile(0.1)),
                    time(measured.quantile(0.9))
                );
                let share = self
                    .copy
                    .map_or(String::new(), |copy| format!("{:.2}", bandwidth / copy));
                let clock = if measured.clock == Clock::Host {
                    "  host clock"
                } else {
                    ""
                };
                say(format!(
                    "{start} {:>11}  {spread:<24} {:>8.1} {share:>8} {:>9.3} {:>8.3}{clock}",
                    time(measured.median()),
                    bandwidth / 1e9,
                    line.elements as f64 / seconds / 1e9,
                    line.flops as f64 / seconds / 1e12,
                ));
            }
            Ok(measured) => say(format!(
                "{start} no figure, the output is wrong: {}",
                measured.row.note
            )),
            Err(error) => say(format!("{start} {error}")),
        }
    }

    fn json(&self, adapter: &str, copy: Option<f64>) -> Vec<serde_json::Value> {
        let entry = |line: &Line| {
            let mut value = serde_json::json!({
                "op": line.op, "case": line.case, "dtype": line.dtype, "adapter": adapter, "variant": line.variant,
            });
            match &line.measured {
                Ok(measured) if measured.row.passed() => {
                    let seconds = measured.median().as_secs_f64();
                    value["median_ms"] = (seconds * 1e3).into();
                    value["p10_ms"] = (measured.quantile(0.1).as_secs_f64() * 1e3).into();
                    value["p90_ms"] = (measured.quantile(0.9).as_secs_f64() * 1e3).into();
                    value["clock"] = if measured.clock == Clock::Device {
                        "device"
                    } else {
                        "host"
                    }
                    .into();
                    value["gb_per_s"] = (line.bytes as f64 / seconds / 1e9).into();
                    value["gelements_per_s"] = (line.elements as f64 / seconds / 1e9).into();
                    value["tflop_per_s"] = (line.flops as f64 / seconds / 1e12).into();
                    value["copy_gb_per_s"] = copy.map(|c| c / 1e9).into();
                    value["bound_ratio"] = measured.row.bound_ratio.into();
                }
                Ok(measured) => value["error"] = measured.row.note.clone().into(),
                Err(error) => value["error"] = error.to_string().into(),
            }
            value
        };
        self.lines.iter().map(entry).collect()
    }
}

fn time(duration: Duration) -> String {
    let micros = duration.as_secs_f64() * 1e6;
    if micros < 1000.0 {
        format!("{micros:.1} µs")
    } else {
        format!("{:.3} ms", micros / 1e3)
    }
}

/// What calls cost the host, on the smallest problem of each operation selected.
fn overheads(arguments: &Arguments, selection: &Selection) -> Outcome {
    let entries = pollster::block_on(device::enumerate());
    let mut figures = Vec::new();
    let mut sound = true;
    for entry in &entries {
        let named = |text: &String| match text.parse::<usize>() {
            Ok(index) => entry.index == index,
            Err(_) => entry.matches(text),
        };
        if !arguments.adapters.is_empty() && !arguments.adapters.iter().any(named) {
            continue;
        }
        say(&entry.identity);
        let mut table = table(&[
            "operation",
            "dtype",
            "link and pipelines",
            "probe",
            "call",
            "record a dispatch",
            "allocations",
        ]);
        let mut seen = Vec::new();
        for item in selection.items()? {
            let name = item.operation.signature().name;
            if seen.contains(&name) {
                continue;
            }
            seen.push(name);
            let instance = item.build()?;
            match overhead(&entry.adapter, &instance) {
                Ok(cost) => {
                    table.add_row([
                        name.to_string(),
                        item.dtype.to_string(),
                        format!("{} ({})", time(cost.first_use), cost.pipelines),
                        time(cost.probe),
                        time(cost.call),
                        time(cost.record_per_dispatch),
                        cost.allocations.to_string(),
                    ]);
                    figures.push(serde_json::json!({
                        "op": name, "dtype": item.dtype.name(), "adapter": entry.identity.to_string(),
                        "first_use_ms": cost.first_use.as_secs_f64() * 1e3, "pipelines": cost.pipelines,
                        "probe_ms": cost.probe.as_secs_f64() * 1e3, "call_us": cost.call.as_secs_f64() * 1e6,
                        "record_us_per_dispatch": cost.record_per_dispatch.as_secs_f64() * 1e6,
                        "allocations": cost.allocations,
                    }));
                }
                Err(error) => {
                    sound = false;
                    table.add_row([name.to_string(), item.dtype.to_string(), error.to_string()]);
                }
            }
        }
        say(table);
    }
    write_json(arguments, &figures)?;
    Ok(sound)
}
