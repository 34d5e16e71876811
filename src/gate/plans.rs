//! Every plan there is: what tests of shaders go through.

use crate::device::Capabilities;
use crate::dtype::DType;
use crate::error::Result;
use crate::gate::Selection;
use crate::operation::{Op, Variant};
use crate::plan::Plan;

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

/// Plans the selected problems, by each selected GPU variant, on a device of
/// these capabilities. Needs no such device.
///
/// ```
/// use portcullis::gate::{Effort, Selection, plans};
/// use portcullis::{Capabilities, Variant};
/// let baseline = Capabilities::baseline();
/// for planned in plans(&baseline, &Selection::all(Effort::Quick))? {
///     // A device without optional features runs every operation that has a portable variant.
///     if planned.variant == Variant::Portable {
///         for step in &planned.plan?.steps {
///             assert!(step.kernel.link(false)?.text.contains("fn main"));
///         }
///     }
/// }
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// As [`Selection::items`].
pub fn plans(
    capabilities: &Capabilities,
    selection: &Selection,
) -> Result<impl Iterator<Item = Planned>> {
    let items = selection.items()?.into_iter();
    Ok(items.flat_map(move |item| {
        let variants = item.operation.signature().variants.iter();
        let on_gpus = variants.filter(|&&v| v != Variant::Cpu && selection.takes(v));
        on_gpus.map(move |&variant| Planned {
            operation: item.operation,
            dtype: item.dtype,
            case: item.problem.name.clone(),
            variant,
            plan: item
                .problem
                .call(item.operation)
                .and_then(|call| item.operation.plan(&call, variant, capabilities)),
        })
    }))
}
