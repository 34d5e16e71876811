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
        let strides = row_major(&self.moved_last(&self.shape));
        let (&last, others) = strides.split_last().expect("rows have an axis");
        let mut restored = others.to_vec();
        restored.insert(self.axis, last);
        plan.copy_axes(from, dtype, &self.shape, &restored, to);
    }

    /// The entries of all axes, this one's moved to the end.
    fn moved_last<T: Copy>(&self, entries: &[T]) -> Vec<T> {
        let mut moved = entries.to_vec();
        let entry = moved.remove(self.axis);
        moved.push(entry);
        moved
    }

    /// Calls `f` with the positions of each row's elements in row-major order.
    pub fn for_each(&self, mut f: impl FnMut(&mut dyn Iterator<Item = usize>)) {
        for row in 0..self.rows {
            let (outer, i) = (row / self.inner, row % self.inner);
            let first = outer * self.columns * self.inner + i;
            f(&mut (0..self.columns).map(|c| first + c * self.inner));
        }
    }
}
