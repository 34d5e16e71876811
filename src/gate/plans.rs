//! Every plan there is: what tests of shaders go through.

use crate::device::Capabilities;
use crate::dtype::DType;
use crate::error::Result;
use crate::gate::Effort;
use crate::operation::{Op, Variant};
use crate::plan::Plan;
use crate::registry;

/// The plan of one problem by one variant, or why there is none.
pub struct Planned {
    /// The operation.
    pub operation: Op,
    /// The dtype of the main input.
    pub dtype: DType,
    /// The problem's name.
    pub case: String,
    /// The variant.
    pub variant: Variant,
    /// The plan; an error where the variant cannot run on such a device.
    pub plan: Result<Plan>,
}

impl std::fmt::Display for Planned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (name, case) = (self.operation.signature().name, &self.case);
        write!(f, "{name} [{case}] {} {}", self.dtype, self.variant)
    }
}

/// Plans every problem of every registered operation, for each of its dtypes
/// and GPU variants, on a device of these capabilities. Needs no such device.
///
/// ```
/// use portcullis::{Capabilities, gate};
/// let baseline = Capabilities::baseline();
/// let softmax = gate::plans(&baseline, gate::Effort::Quick)
///     .find(|planned| planned.operation.signature().name == "softmax" && planned.plan.is_ok());
/// assert!(softmax.unwrap().plan.unwrap().steps[0].kernel.link(false)?.text.contains("fn main"));
/// # Ok::<(), portcullis::Error>(())
/// ```
pub fn plans(capabilities: &Capabilities, effort: Effort) -> impl Iterator<Item = Planned> + '_ {
    let problems = registry::OPERATIONS.iter().flat_map(move |&operation| {
        operation.signature().dtypes.iter().flat_map(move |&dtype| {
            let problems = operation.problems(dtype, effort).into_iter();
            problems.map(move |problem| (operation, dtype, problem))
        })
    });
    problems.flat_map(move |(operation, dtype, problem)| {
        let variants = operation.signature().variants.iter();
        let on_gpus = variants.filter(|&&variant| variant != Variant::Cpu);
        on_gpus.map(move |&variant| Planned {
            operation,
            dtype,
            case: problem.name.clone(),
            variant,
            plan: problem
                .call(operation)
                .and_then(|call| operation.plan(&call, variant, capabilities)),
        })
    })
}
