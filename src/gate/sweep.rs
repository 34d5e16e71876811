//! The registry times problems times variants times adapters: what `portcullis gate`,
//! the tests and the web page go through.

use crate::device::Gpu;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::gate::{Effort, Instance, Problem, Row, Status, check_on_cpu, check_on_gpu};
use crate::operation::{Op, Variant};
use crate::registry;

/// What to gate. Empty lists select everything.
#[derive(Debug, Clone)]
pub struct Selection {
    /// Names of operations or families, exact or with `*` at the end.
    pub operations: Vec<String>,
    /// Dtypes of the main input.
    pub dtypes: Vec<DType>,
    /// Variants, the CPU twin among them.
    pub variants: Vec<Variant>,
    /// Names of problems, exact.
    pub cases: Vec<String>,
    /// How many problems.
    pub effort: Effort,
}

/// One problem to gate.
pub struct Item {
    /// The operation.
    pub operation: Op,
    /// The main input's dtype.
    pub dtype: DType,
    /// The problem.
    pub problem: Problem,
}

impl Selection {
    /// Everything, at this effort.
    pub fn all(effort: Effort) -> Selection {
        Selection {
            operations: vec![],
            dtypes: vec![],
            variants: vec![],
            cases: vec![],
            effort,
        }
    }

    /// The problems selected.
    ///
    /// # Errors
    /// [`Error::UnknownOperation`] for a name that selects nothing; [`Error::Inputs`] when
    /// the selectors together leave no problem.
    pub fn items(&self) -> Result<Vec<Item>> {
        let selects = |pattern: &str, op: &Op| {
            let signature = op.signature();
            match pattern.strip_suffix('*') {
                Some(prefix) => signature.name.starts_with(prefix),
                None => signature.name == pattern || signature.family == pattern,
            }
        };
        for pattern in &self.operations {
            if !registry::OPERATIONS.iter().any(|op| selects(pattern, op)) {
                registry::find(pattern.trim_end_matches('*'))?;
                return Err(Error::UnknownOperation {
                    name: pattern.clone(),
                    suggestion: None,
                });
            }
        }
        let mut items = Vec::new();
        for &operation in registry::OPERATIONS.iter() {
            if !self.operations.is_empty()
                && !self.operations.iter().any(|p| selects(p, &operation))
            {
                continue;
            }
            let dtypes = operation.signature().dtypes.iter().copied();
            let mut lists: Vec<(DType, Vec<Problem>)> = dtypes
                .filter(|dtype| self.dtypes.is_empty() || self.dtypes.contains(dtype))
                .map(|dtype| (dtype, operation.problems(dtype, self.effort)))
                .filter(|(_, problems)| !problems.is_empty())
                .collect();
            if self.effort == Effort::Quick {
                take_turns(&mut lists, operation);
            }
            for (dtype, problems) in lists {
                let selected = |p: &Problem| self.cases.is_empty() || self.cases.contains(&p.name);
                items.extend(problems.into_iter().filter(selected).map(|problem| Item {
                    operation,
                    dtype,
                    problem,
                }));
            }
        }
        if items.is_empty() {
            return Err(Error::Inputs {
                operation: "gate".into(),
                problem:
                    "the selectors leave no problem; `portcullis ops` lists operations and dtypes"
                        .into(),
            });
        }
        Ok(items)
    }

    /// Whether a variant is selected.
    pub fn takes(&self, variant: Variant) -> bool {
        self.variants.is_empty() || self.variants.contains(&variant)
    }
}

/// Operations of a family share kernels. From this many on, each of them takes
/// one problem of a quick gate, and problems and dtypes in turn: on software
/// adapters most of the time goes into compiling.
const LARGE_FAMILY: usize = 8;

/// Leaves one or two problems of an operation, of as many dtypes.
fn take_turns(lists: &mut Vec<(DType, Vec<Problem>)>, operation: Op) {
    let family = operation.signature().family;
    let of_family = |op: &&Op| op.signature().family == family;
    let members: Vec<&Op> = registry::OPERATIONS.iter().filter(of_family).collect();
    let large = members.len() >= LARGE_FAMILY;
    // The place within the family: what is registered before it does not move its turns.
    let place = members.iter().position(|op| **op == operation).unwrap_or(0);
    for (_, problems) in lists.iter_mut() {
        let turn = place / 2 % problems.len();
        problems.swap(0, turn);
        problems.truncate(1);
    }
    // Every other operation takes its first dtype, which is the one most used.
    let others = lists.len().saturating_sub(1);
    if others > 0 {
        lists.swap(1, 1 + place / 2 % others);
        lists.truncate(2);
        if large {
            lists.remove((place + 1) % 2);
        }
    }
}

impl Item {
    /// Generates the problem's inputs.
    ///
    /// # Errors
    /// When the operation refuses its own problem: a fault of the registry, and a failed gate.
    pub fn build(&self) -> Result<Instance> {
        self.problem.build(self.operation, self.dtype)
    }
}

/// The row for something that could not even be tried.
pub fn error_row(op: &str, case: &str, dtype: &str, adapter: &str, error: &Error) -> Row {
    Row {
        op: op.into(),
        case: case.into(),
        dtype: dtype.into(),
        adapter: adapter.into(),
        variant: String::new(),
        status: Status::Error,
        max_abs: 0.0,
        max_rel: 0.0,
        max_ulp: 0.0,
        bound_ratio: 0.0,
        note: error.to_string(),
    }
}

/// Gates one problem by every selected variant of a GPU. A device that is lost
/// or out of memory fails the rows that it leaves out.
pub async fn sweep_gpu(gpu: &Gpu, instance: &Instance, selection: &Selection) -> Vec<Row> {
    let adapter = gpu.capabilities().identity.to_string();
    let mut rows = Vec::new();
    for &variant in instance.call.operation.signature().variants {
        if variant == Variant::Cpu || !selection.takes(variant) {
            continue;
        }
        rows.push(match check_on_gpu(gpu, instance, variant).await {
            Ok(row) => row,
            Err(error) => {
                let mut row = Row::new(instance, &adapter, variant);
                row.error(error);
                row
            }
        });
    }
    rows
}

/// Gates one problem by the CPU twin, if that is selected.
pub fn sweep_cpu(instance: &Instance, selection: &Selection) -> Vec<Row> {
    if selection.takes(Variant::Cpu) {
        vec![check_on_cpu(instance)]
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_quick_gate_takes_every_operation_and_every_dtype_of_a_family() {
        let items = Selection::all(Effort::Quick).items().unwrap();
        let mut families: BTreeSet<(&str, DType)> = BTreeSet::new();
        for op in registry::OPERATIONS.iter() {
            let of_op = items.iter().filter(|item| item.operation == *op);
            let count = of_op.clone().count();
            assert!((1..=2).contains(&count), "{}: {count}", op.signature().name);
            families.extend(of_op.map(|item| (op.signature().family, item.dtype)));
        }
        for family in ["elementwise", "reduce", "scan"] {
            for &dtype in DType::ALL {
                assert!(families.contains(&(family, dtype)), "{family} {dtype}");
            }
        }
    }
}
