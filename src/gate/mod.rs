//! Gates: checks with a number and a limit, that can fail.

#[cfg(feature = "files")]
mod baseline;
mod compare;
mod execute;
mod fill;
#[cfg(not(target_arch = "wasm32"))]
mod measure;
#[doc(hidden)]
pub mod oracle;
mod plans;
mod problem;
mod report;
mod sweep;

#[cfg(feature = "files")]
pub use baseline::{BaselineItem, baseline_items};
pub use compare::{Comparison, Expected, Sample, compare};
pub use execute::{Execution, execute};
pub use fill::Fill;
#[cfg(not(target_arch = "wasm32"))]
pub use measure::{
    Clock, Measurement, Overhead, Repeats, copy_bandwidth, measure, measure_cpu, overhead,
};
pub use plans::{Planned, plans};
pub use problem::{Effort, Instance, Problem, ProblemInput};
pub use report::{Row, Status};
pub use sweep::{Item, Selection, error_row, sweep_cpu, sweep_gpu};

use crate::device::Gpu;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::operation::{Op, Variant};

/// Runs the probe problems of an operation by one variant; what failed, if anything.
///
/// # Errors
/// Only what says nothing about the variant: a lost device, no memory.
pub(crate) async fn probe(
    gpu: &Gpu,
    operation: Op,
    dtype: DType,
    variant: Variant,
) -> Result<Option<String>> {
    for problem in operation.problems(dtype, Effort::Probe) {
        let instance = problem.build(operation, dtype)?;
        let row = check_on_gpu(gpu, &instance, variant).await?;
        match row.status {
            Status::Pass => {}
            // A probe problem beyond this device's limits: the call itself will meet the same limit.
            Status::Unsupported => {}
            Status::Fail | Status::Error => return Ok(Some(format!("{}: {}", row.case, row.note))),
        }
    }
    Ok(None)
}

/// Gates one problem on one variant of a GPU.
///
/// # Errors
/// A lost device, or no memory. Everything else is a row.
pub async fn check_on_gpu(gpu: &Gpu, instance: &Instance, variant: Variant) -> Result<Row> {
    let mut row = Row::new(instance, &gpu.capabilities().identity.to_string(), variant);
    let prepared = match gpu
        .plan(&instance.call, variant)
        .and_then(|plan| gpu.prepare_plan(plan))
    {
        Ok(prepared) => prepared,
        Err(error) => return row.refused(error),
    };
    match execute(gpu, &prepared, instance).await {
        Ok(execution) => row.judge(instance, execution.outputs, execution.damage),
        Err(error @ (Error::DeviceLost(_) | Error::OutOfMemory { .. })) => return Err(error),
        Err(error) => row.error(error),
    }
    Ok(row)
}

/// Gates one problem on the CPU twin.
pub fn check_on_cpu(instance: &Instance) -> Row {
    let mut row = Row::new(instance, "cpu", Variant::Cpu);
    let inputs = instance.inputs();
    match instance.call.operation.cpu(&instance.call, &inputs) {
        Ok(outputs) => row.judge(instance, outputs, None),
        Err(error) => row.error(error),
    }
    row
}
