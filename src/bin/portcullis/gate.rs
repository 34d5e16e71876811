//! `portcullis gate`: every operation, in every variant, on every adapter and the CPU.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use portcullis::files::Baseline;
use portcullis::gate::{
    BaselineItem, Effort, Instance, Row, Selection, Status, baseline_items, error_row, sweep_cpu,
    sweep_gpu,
};
use portcullis::{DType, Gpu, Variant, device};

use crate::table::{progress, table};
use crate::{Outcome, say};

/// What to do on a machine without an adapter.
pub const NO_ADAPTER: &str = "No GPU adapter was found: running on the CPU alone.\n\
    For a software adapter install Mesa's lavapipe (Debian and Ubuntu: apt install mesa-vulkan-drivers), \
    or a driver of your GPU's maker.";

#[derive(clap::Args)]
pub struct Arguments {
    /// Operations or families; a name may end in `*`. All when none is given.
    operations: Vec<String>,
    /// Only these dtypes: f32, f16, bf16, i32, u32.
    #[arg(long = "dtype", value_delimiter = ',', value_parser = parse_dtype)]
    dtypes: Vec<DType>,
    /// Only these variants: matrix, subgroup, portable, cpu.
    #[arg(long = "variant", value_delimiter = ',', value_parser = parse_variant)]
    variants: Vec<Variant>,
    /// Only these adapters: an index, or a part of the name, backend or driver; `cpu` for the CPU twins alone.
    #[arg(long = "adapter", value_delimiter = ',')]
    adapters: Vec<String>,
    /// Only these problems, by name.
    #[arg(long = "case")]
    cases: Vec<String>,
    /// Every operation at least once: under a minute on software adapters.
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Everything, large sizes included.
    #[arg(long)]
    full: bool,
    /// Run captured cases from a .safetensors file, or a folder of them, instead of generated problems.
    #[arg(long, value_name = "PATH")]
    baseline: Option<PathBuf>,
    /// Do not fail for captured cases of operations that are not registered; they are listed all the same.
    #[arg(long, requires = "baseline")]
    only_registered: bool,
    /// Write every row as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write every row as JUnit XML.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

pub fn parse_dtype(text: &str) -> Result<DType, String> {
    DType::parse(text).ok_or_else(|| "dtypes are f32, f16, bf16, i32, u32".into())
}

pub fn parse_variant(text: &str) -> Result<Variant, String> {
    Variant::parse(text).ok_or_else(|| "variants are matrix, subgroup, portable, cpu".into())
}

/// Something to gate, or the row that says why it cannot be.
enum Work {
    Instance(Box<Instance>),
    Row(Row),
}

pub fn main(arguments: &Arguments) -> Outcome {
    let effort = match (arguments.quick, arguments.full) {
        (true, _) => Effort::Quick,
        (_, true) => Effort::Full,
        _ => Effort::Standard,
    };
    let selection = Selection {
        operations: arguments.operations.clone(),
        dtypes: arguments.dtypes.clone(),
        variants: arguments.variants.clone(),
        cases: arguments.cases.clone(),
        effort,
    };
    let (gpus, mut rows) = open_adapters(&arguments.adapters)?;
    let mut selection = selection;
    if !takes_cpu(&arguments.adapters) {
        // Without the CPU: every variant but its own.
        let asked = |v: &Variant| *v != Variant::Cpu && selection.takes(*v);
        selection.variants = Variant::ALL.iter().copied().filter(asked).collect();
    }
    // What cannot be written is better known before the work than after it.
    for path in [&arguments.json, &arguments.junit].into_iter().flatten() {
        std::fs::write(path, "").map_err(|e| format!("{}: {e}", path.display()))?;
    }
    let mut unregistered = 0;
    match &arguments.baseline {
        Some(path) => {
            let baseline = Baseline::read(path)?;
            let works: Vec<Work> = baseline
                .cases
                .iter()
                .flat_map(baseline_items)
                .map(captured)
                .collect();
            let works = works
                .into_iter()
                .filter(|work| selects(&selection, work))
                .collect::<Vec<_>>();
            if works.is_empty() {
                return Err("the selectors leave no captured case".into());
            }
            unregistered = works.iter().filter(|w| matches!(w, Work::Row(_))).count();
            let length = works.len();
            sweep(&gpus, &selection, length, works.into_iter(), &mut rows);
        }
        None => {
            let items = selection.items()?;
            let length = items.len();
            let works = items.into_iter().map(|item| match item.build() {
                Ok(instance) => Work::Instance(Box::new(instance)),
                Err(error) => {
                    let op = item.operation.signature().name;
                    Work::Row(error_row(
                        op,
                        &item.problem.name,
                        item.dtype.name(),
                        "",
                        &error,
                    ))
                }
            });
            sweep(&gpus, &selection, length, works, &mut rows);
        }
    }
    print_summary(&rows);
    let repeat = repeat_arguments(arguments);
    print_failures(&rows, &repeat);
    if let Some(path) = &arguments.json {
        let all: Vec<_> = rows.iter().map(Row::to_json).collect();
        std::fs::write(path, serde_json::to_string_pretty(&all)? + "\n")
            .map_err(|e| format!("{}: {e}", path.display()))?;
    }
    if let Some(path) = &arguments.junit {
        std::fs::write(path, crate::junit::report(&rows)?)
            .map_err(|e| format!("{}: {e}", path.display()))?;
    }
    let count = |status: Status| rows.iter().filter(|r| r.status == status).count();
    let ran = count(Status::Pass) + count(Status::Fail);
    say(format!(
        "{} passed, {} failed, {} errors, {} unsupported",
        count(Status::Pass),
        count(Status::Fail),
        count(Status::Error),
        count(Status::Unsupported)
    ));
    let unregistered_fails = unregistered > 0 && !arguments.only_registered;
    if unregistered_fails {
        say(format!(
            "{unregistered} captured cases are of operations or parameters that are not registered: that fails the gate unless --only-registered is given"
        ));
    }
    Ok(ran > 0 && count(Status::Fail) == 0 && count(Status::Error) == 0 && !unregistered_fails)
}

fn captured(item: BaselineItem) -> Work {
    match item {
        BaselineItem::Instance(instance) => Work::Instance(instance),
        BaselineItem::Unsupported {
            op,
            case,
            dtype,
            reason,
        } => {
            let mut row = error_row(
                &op,
                &case,
                &dtype,
                "",
                &portcullis::Error::NoAdapter(String::new()),
            );
            row.status = Status::Unsupported;
            row.note = reason;
            Work::Row(row)
        }
    }
}

fn selects(selection: &Selection, work: &Work) -> bool {
    let (op, case, dtype) = match work {
        Work::Instance(instance) => (
            instance.call.name(),
            instance.name.as_str(),
            instance.dtype.name(),
        ),
        Work::Row(row) => (row.op.as_str(), row.case.as_str(), row.dtype.as_str()),
    };
    let prefix = |p: &String| {
        p.strip_suffix('*')
            .map_or(op == p, |start| op.starts_with(start))
    };
    (selection.operations.is_empty() || selection.operations.iter().any(prefix))
        && (selection.cases.is_empty() || selection.cases.iter().any(|c| c == case))
        && (selection.dtypes.is_empty() || selection.dtypes.iter().any(|d| d.name() == dtype))
}

/// Whether the adapters asked for include the CPU twins.
pub fn takes_cpu(selectors: &[String]) -> bool {
    selectors.is_empty() || selectors.iter().any(|s| s.eq_ignore_ascii_case("cpu"))
}

/// Opens the adapters asked for. One that does not open is a row, and fails the gate.
pub fn open_adapters(selectors: &[String]) -> Result<(Vec<Gpu>, Vec<Row>), String> {
    let entries = pollster::block_on(device::enumerate());
    let named = |text: &str, entry: &device::AdapterEntry| match text.parse::<usize>() {
        Ok(index) => entry.index == index,
        Err(_) => entry.matches(text),
    };
    for selector in selectors.iter().filter(|s| !s.eq_ignore_ascii_case("cpu")) {
        if !entries.iter().any(|entry| named(selector, entry)) {
            let list: Vec<String> = entries
                .iter()
                .map(|e| format!("{}: {}", e.index, e.identity))
                .collect();
            return Err(format!(
                "no adapter is called `{selector}`; there are: {}; cpu",
                list.join("; ")
            ));
        }
    }
    if entries.is_empty() && selectors.is_empty() {
        say(NO_ADAPTER);
    }
    let (mut gpus, mut rows) = (Vec::new(), Vec::new());
    for entry in &entries {
        if !selectors.is_empty() && !selectors.iter().any(|s| named(s, entry)) {
            continue;
        }
        match pollster::block_on(Gpu::from_adapter(&entry.adapter)) {
            Ok(gpu) => gpus.push(gpu),
            Err(error) => rows.push(error_row(
                "",
                "open",
                "",
                &entry.identity.to_string(),
                &error,
            )),
        }
    }
    Ok((gpus, rows))
}

/// How many problems may wait for the slowest adapter: all that a quick gate has,
/// one where each may take gigabytes.
fn waiting(effort: Effort) -> usize {
    match effort {
        Effort::Full => 1,
        _ => 256,
    }
}

/// Gates each piece of work on the CPU and on all adapters, each of which goes on at
/// its own pace: what an instance must come to is computed once.
fn sweep(
    gpus: &[Gpu],
    selection: &Selection,
    length: usize,
    works: impl Iterator<Item = Work>,
    rows: &mut Vec<Row>,
) {
    let bar = progress((length * (gpus.len() + 1)) as u64);
    let mut of_cpu: Vec<Vec<Row>> = Vec::with_capacity(length);
    let mut of_adapters: Vec<Vec<(usize, Vec<Row>)>> = Vec::new();
    std::thread::scope(|scope| {
        let (mut senders, mut threads) = (Vec::new(), Vec::new());
        for gpu in gpus {
            let (sender, receiver) =
                sync_channel::<(usize, Arc<Instance>)>(waiting(selection.effort));
            senders.push(sender);
            let bar = &bar;
            threads.push(scope.spawn(move || {
                let check = |(place, instance): (usize, Arc<Instance>)| {
                    let rows = check_on(gpu, &instance, selection);
                    bar.inc(1);
                    (place, rows)
                };
                receiver.into_iter().map(check).collect::<Vec<_>>()
            }));
        }
        for (place, work) in works.enumerate() {
            of_cpu.push(match work {
                Work::Instance(instance) => {
                    bar.set_message(format!("{} {}", instance.call.name(), instance.dtype));
                    let instance: Arc<Instance> = instance.into();
                    for sender in &senders {
                        // A thread ends before its sender only by a panic, which its join tells.
                        let _ = sender.send((place, instance.clone()));
                    }
                    sweep_cpu(&instance, selection)
                }
                Work::Row(row) => vec![row],
            });
            bar.inc(1);
        }
        drop(senders);
        for (gpu, thread) in gpus.iter().zip(threads) {
            of_adapters.push(thread.join().unwrap_or_else(|_| {
                let adapter = gpu.capabilities().identity.to_string();
                vec![(0, vec![panicked("", "all", "", &adapter)])]
            }));
        }
    });
    bar.finish_and_clear();
    let mut of_adapters: Vec<_> = of_adapters
        .into_iter()
        .map(|list| list.into_iter().peekable())
        .collect();
    for (place, of_cpu) in of_cpu.into_iter().enumerate() {
        rows.extend(of_cpu);
        for list in &mut of_adapters {
            while let Some((_, more)) = list.next_if(|(at, _)| *at == place) {
                rows.extend(more);
            }
        }
    }
}

/// One instance on one adapter. A panic is a row, and the gate goes on.
fn check_on(gpu: &Gpu, instance: &Instance, selection: &Selection) -> Vec<Row> {
    let check = || pollster::block_on(sweep_gpu(gpu, instance, selection));
    catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|_| {
        let adapter = gpu.capabilities().identity.to_string();
        let dtype = instance.dtype.name();
        vec![panicked(
            instance.call.name(),
            &instance.name,
            dtype,
            &adapter,
        )]
    })
}

fn panicked(op: &str, case: &str, dtype: &str, adapter: &str) -> Row {
    let error = portcullis::Error::Device {
        operation: op.into(),
        message: "the check itself panicked".into(),
    };
    error_row(op, case, dtype, adapter, &error)
}

/// One line an operation, one column an adapter and variant: the worst error
/// over the error allowed, over all dtypes and problems.
fn print_summary(rows: &[Row]) {
    let mut columns: Vec<(&str, &str)> = Vec::new();
    let mut cells: BTreeMap<(usize, usize), Vec<&Row>> = BTreeMap::new();
    let mut operations: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|r| !r.variant.is_empty()) {
        let column = (row.adapter.as_str(), row.variant.as_str());
        let at = columns
            .iter()
            .position(|c| *c == column)
            .unwrap_or_else(|| {
                columns.push(column);
                columns.len() - 1
            });
        let line = operations
            .iter()
            .position(|o| *o == row.op)
            .unwrap_or_else(|| {
                operations.push(&row.op);
                operations.len() - 1
            });
        cells.entry((line, at)).or_default().push(row);
    }
    if operations.is_empty() {
        return;
    }
    // Adapters have long names: numbered above, so that the table stays narrow.
    let mut adapters: Vec<&str> = columns.iter().map(|c| c.0).collect();
    adapters.dedup();
    for (i, adapter) in adapters.iter().enumerate() {
        say(format!("[{i}] {adapter}"));
    }
    let heading = |(adapter, variant): &(&str, &str)| {
        let number = adapters.iter().position(|a| a == adapter).unwrap_or(0);
        format!("[{number}] {variant}")
    };
    let mut headings = vec!["operation".to_string(), "dtypes".to_string()];
    headings.extend(columns.iter().map(heading));
    let mut table = table(&headings.iter().map(String::as_str).collect::<Vec<_>>());
    for (line, operation) in operations.iter().enumerate() {
        let mut dtypes: Vec<&str> = Vec::new();
        for row in rows.iter().filter(|r| r.op == **operation) {
            if !dtypes.contains(&row.dtype.as_str()) {
                dtypes.push(&row.dtype);
            }
        }
        let mut cells_of_line = vec![operation.to_string(), dtypes.join(" ")];
        for column in 0..columns.len() {
            cells_of_line.push(match cells.get(&(line, column)) {
                Some(rows) => cell(rows),
                None => String::new(),
            });
        }
        table.add_row(cells_of_line);
    }
    say(table);
    say("numbers: the worst error over the error allowed; above 1 fails\n");
}

fn cell(rows: &[&Row]) -> String {
    let bad = rows
        .iter()
        .filter(|r| matches!(r.status, Status::Fail | Status::Error))
        .count();
    if bad > 0 {
        return format!("FAIL {bad}/{}", rows.len());
    }
    let passed: Vec<_> = rows.iter().filter(|r| r.passed()).collect();
    if passed.is_empty() {
        return "unsupported".into();
    }
    let worst = passed
        .iter()
        .fold(0.0f64, |worst, r| worst.max(r.bound_ratio));
    if worst == 0.0 {
        "exact".into()
    } else {
        format!("{worst:.2}")
    }
}

/// One line for each failure, and the command that repeats it.
fn print_failures(rows: &[Row], repeat: &str) {
    let mut reasons: BTreeMap<(&str, &str), (usize, BTreeSet<&str>)> = BTreeMap::new();
    for row in rows {
        match row.status {
            Status::Pass => {}
            Status::Unsupported => {
                let entry = reasons.entry((&row.note, &row.adapter)).or_default();
                entry.0 += 1;
                entry.1.insert(&row.op);
            }
            Status::Fail | Status::Error => {
                let note = row.note.replace('\n', " ");
                say(format!(
                    "{} {} [{}] {} {}: {note}",
                    row.status.name(),
                    row.op,
                    row.case,
                    row.adapter,
                    row.variant
                ));
                if !row.op.is_empty() {
                    let adapter = row.adapter.split(" [").next().unwrap_or("cpu");
                    say(format!(
                        "  repeat: portcullis gate {} --dtype {} --variant {} --adapter '{adapter}' --case '{}'{repeat}",
                        row.op, row.dtype, row.variant, row.case
                    ));
                }
            }
        }
    }
    for ((reason, adapter), (count, operations)) in reasons {
        let place = match adapter {
            "" => String::new(),
            adapter => format!(" on {adapter}"),
        };
        let operations: Vec<&str> = operations.into_iter().collect();
        let operations = operations.join(", ");
        say(format!(
            "unsupported{place}, {count} rows: {reason}: {operations}"
        ));
    }
}

/// The arguments that decide which problems exist.
fn repeat_arguments(arguments: &Arguments) -> String {
    match (&arguments.baseline, arguments.quick, arguments.full) {
        (Some(path), ..) => format!(" --baseline '{}'", path.display()),
        (None, true, _) => " --quick".into(),
        (None, _, true) => " --full".into(),
        _ => String::new(),
    }
}
