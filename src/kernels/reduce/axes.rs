//! Which axes a reduction removes, and the simplest form of the same problem.

use crate::error::{Error, Result};
use crate::host::HostTensor;
use crate::operation::Call;
use crate::plan::{PlanBuilder, Slot};
use crate::spec::{resolve_axis, row_major};

/// A reduction of some axes of a shape, as one of the middle axis of
/// [outer, extent, inner].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reduction {
    /// The product of the extents in front.
    pub outer: usize,
    /// Elements reduced to one.
    pub extent: usize,
    /// The product of the extents behind; 1 for contiguous rows.
    pub inner: usize,
    /// The shape of the result.
    pub result: Vec<usize>,
    shape: Vec<usize>,
    /// The order of axes that brings the reduced ones together, where they are not.
    order: Option<Vec<usize>>,
    /// Words of an element that lie behind one another, along an axis that takes no part.
    fields: Option<usize>,
}

impl Reduction {
    /// The reduction of a call with parameters `axes` and `keepdims`.
    ///
    /// # Errors
    /// [`Error::Axis`]; [`Error::Parameter`] for an axis named twice.
    pub fn of(call: &Call) -> Result<Reduction> {
        let shape = &call.input(0).shape;
        Reduction::new(call, shape, call.params.ints("axes"))
    }

    /// The reduction of a call whose input's last axis holds the fields of each element.
    ///
    /// # Errors
    /// As [`Reduction::of`].
    #[cfg(feature = "user-wgsl")]
    pub fn of_structs(call: &Call, fields: usize) -> Result<Reduction> {
        let shape = &call.input(0).shape;
        let shape = &shape[..shape.len().saturating_sub(1)];
        let mut reduction = Reduction::new(call, shape, call.params.ints("axes"))?;
        reduction.result.push(fields);
        reduction.fields = Some(fields);
        Ok(reduction)
    }

    /// The reduction of `axes` of `shape`: of all when none is named.
    ///
    /// # Errors
    /// As [`Reduction::of`].
    pub fn new(call: &Call, shape: &[usize], axes: &[i64]) -> Result<Reduction> {
        let mut reduced = vec![axes.is_empty(); shape.len()];
        for &axis in axes {
            let resolved = resolve_axis(call.name(), axis, shape.len())?;
            if std::mem::replace(&mut reduced[resolved], true) {
                let problem = format!("{axes:?} names axis {resolved} twice");
                return Err(call.parameter_error("axes", problem));
            }
        }
        let keep = call.params.bool("keepdims");
        let result = shape
            .iter()
            .zip(&reduced)
            .filter_map(|(&d, &r)| if r { keep.then_some(1) } else { Some(d) })
            .collect();
        // Axes of extent 1 count for nothing, wherever they lie.
        let mut runs: Vec<(bool, usize)> = Vec::new();
        for (&d, &r) in shape.iter().zip(&reduced).filter(|(d, _)| **d != 1) {
            match runs.last_mut() {
                Some((run, extent)) if *run == r => *extent *= d,
                _ => runs.push((r, d)),
            }
        }
        let (outer, extent, inner) = match runs[..] {
            [] => (1, 1, 1),
            [(true, extent)] => (1, extent, 1),
            [(false, outer)] => (outer, 1, 1),
            [(true, extent), (false, inner)] => (1, extent, inner),
            [(false, outer), (true, extent)] => (outer, extent, 1),
            [(false, outer), (true, extent), (false, inner)] => (outer, extent, inner),
            _ => {
                let product = |which: bool| {
                    let runs = runs.iter().filter(|(r, _)| *r == which);
                    runs.map(|(_, d)| d).product()
                };
                let kept = (0..shape.len()).filter(|&a| !reduced[a]);
                let removed = (0..shape.len()).filter(|&a| reduced[a]);
                return Ok(Reduction {
                    outer: product(false),
                    extent: product(true),
                    inner: 1,
                    result,
                    shape: shape.to_vec(),
                    order: Some(kept.chain(removed).collect()),
                    fields: None,
                });
            }
        };
        Ok(Reduction {
            outer,
            extent,
            inner,
            result,
            shape: shape.to_vec(),
            order: None,
            fields: None,
        })
    }

    /// The number of results.
    pub fn results(&self) -> usize {
        self.outer * self.inner
    }

    /// [`Error::Empty`] where there is nothing to reduce.
    ///
    /// # Errors
    /// That.
    pub fn not_empty(&self, call: &Call) -> Result<()> {
        if self.extent == 0 {
            return Err(Error::Empty {
                operation: call.name().into(),
            });
        }
        Ok(())
    }

    /// Input `index`, of the reduced shape, as dense [outer, extent, inner].
    pub fn input(&self, plan: &mut PlanBuilder<'_>, call: &Call, index: usize) -> Slot {
        match self.ordered(&call.input(index).strides()) {
            None => plan.dense(index),
            Some((shape, strides)) => plan.gather(index, &shape, &strides),
        }
    }

    /// A host tensor as contiguous [outer, extent, inner]; `None` where it is so already.
    ///
    /// # Errors
    /// None in practice.
    pub fn permute(&self, x: &HostTensor) -> Result<Option<HostTensor>> {
        self.ordered(&row_major(x.shape()))
            .map(|(shape, strides)| HostTensor::gather(x.dtype(), &shape, &strides, x.bytes(), 0))
            .transpose()
    }

    /// Extents and strides in the order that brings the reduced axes together.
    fn ordered(&self, strides: &[isize]) -> Option<(Vec<usize>, Vec<isize>)> {
        let order = self.order.as_ref()?;
        let mut shape: Vec<usize> = order.iter().map(|&a| self.shape[a]).collect();
        let mut moved: Vec<isize> = order.iter().map(|&a| strides[a]).collect();
        if let Some(fields) = self.fields {
            shape.push(fields);
            moved.push(strides[order.len()]);
        }
        Some((shape, moved))
    }

    /// Copies dense [outer, extent, inner] to a dense slot in the shape's own order.
    pub fn restore(&self, plan: &mut PlanBuilder<'_>, from: Slot, dtype: crate::DType, to: Slot) {
        if let Some(strides) = self.restoring() {
            plan.copy_axes(from, dtype, &self.shape, &strides, to);
        }
    }

    /// Contiguous [outer, extent, inner] as a host tensor of the shape's own order.
    ///
    /// # Errors
    /// None in practice.
    pub fn unpermute(&self, x: HostTensor) -> Result<HostTensor> {
        match self.restoring() {
            None => x.reshape(&self.shape),
            Some(strides) => HostTensor::gather(x.dtype(), &self.shape, &strides, x.bytes(), 0),
        }
    }

    /// Whether [`Reduction::input`] permutes axes.
    pub fn permuted(&self) -> bool {
        self.order.is_some()
    }

    /// Strides of the shape's own axes in [outer, extent, inner], where these are permuted.
    fn restoring(&self) -> Option<Vec<isize>> {
        let order = self.order.as_ref()?;
        let ordered: Vec<usize> = order.iter().map(|&a| self.shape[a]).collect();
        let mut strides = vec![0; order.len()];
        for (&axis, stride) in order.iter().zip(row_major(&ordered)) {
            strides[axis] = stride;
        }
        Some(strides)
    }
}
