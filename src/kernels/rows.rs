//! Rows along one axis: what softmax, norms, scans and row reductions work on.

use crate::operation::Call;
use crate::plan::{PlanBuilder, Slot};
use crate::spec::row_major;

/// A shape as rows along one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rows {
    /// The number of rows.
    pub rows: usize,
    /// Elements of a row: the axis's extent.
    pub columns: usize,
    /// The product of the extents behind the axis; rows are contiguous when it is 1.
    pub inner: usize,
    shape: Vec<usize>,
    axis: usize,
    /// Axes that hold the words of one element, behind all others: they stay there.
    trailing: usize,
}

impl Rows {
    /// `shape` as rows along `axis`, which exists.
    pub fn new(shape: &[usize], axis: usize) -> Rows {
        let columns = shape[axis];
        let inner = shape[axis + 1..].iter().product();
        let outer: usize = shape[..axis].iter().product();
        Rows {
            rows: outer * inner,
            columns,
            inner,
            shape: shape.to_vec(),
            axis,
            trailing: 0,
        }
    }

    /// The same for elements of several words, which the last axis of `shape` holds.
    #[cfg(feature = "user-wgsl")]
    pub fn of_structs(shape: &[usize], axis: usize) -> Rows {
        Rows {
            shape: shape.to_vec(),
            trailing: 1,
            ..Rows::new(&shape[..shape.len() - 1], axis)
        }
    }

    /// Input `index` with its rows contiguous: as it is, or a permuted copy.
    pub fn input(&self, plan: &mut PlanBuilder<'_>, call: &Call, index: usize) -> Slot {
        if self.inner == 1 {
            return plan.dense(index);
        }
        let strides = call.input(index).strides();
        plan.gather(
            index,
            &self.moved_last(&self.shape),
            &self.moved_last(&strides),
        )
    }

    /// Copies a slot of contiguous rows to a dense slot in the shape's own order.
    pub fn restore(&self, plan: &mut PlanBuilder<'_>, from: Slot, dtype: crate::DType, to: Slot) {
        let mut restored = row_major(&self.moved_last(&self.shape));
        let stride = restored.remove(restored.len() - 1 - self.trailing);
        restored.insert(self.axis, stride);
        plan.copy_axes(from, dtype, &self.shape, &restored, to);
    }

    /// The entries of all axes, this one's moved to the end.
    fn moved_last<T: Copy>(&self, entries: &[T]) -> Vec<T> {
        let mut moved = entries.to_vec();
        let entry = moved.remove(self.axis);
        moved.insert(moved.len() - self.trailing, entry);
        moved
    }

    /// The positions of a row's elements in row-major order.
    pub fn positions(&self, row: usize) -> impl Iterator<Item = usize> + use<> {
        let (outer, i) = (row / self.inner, row % self.inner);
        let (first, inner) = (outer * self.columns * self.inner + i, self.inner);
        (0..self.columns).map(move |c| first + c * inner)
    }

    /// Calls `f` with the positions of each row's elements.
    pub fn for_each(&self, mut f: impl FnMut(&mut dyn Iterator<Item = usize>)) {
        (0..self.rows).for_each(|row| f(&mut self.positions(row)));
    }
}
