//! Factors as the kernels read them: in place where they can, whatever their
//! transposition, or through a dense copy.

use crate::dtype::DType;
use crate::operation::Call;
use crate::plan::{PlanBuilder, Slot, dense_bytes};
use crate::spec::row_major;

/// A factor, logically a batch of matrices of rows by columns.
#[derive(Debug, Clone)]
pub(crate) struct Operand {
    pub slot: Slot,
    pub dtype: DType,
    /// Whether the view starts anywhere: its offset is known when bound.
    pub late_offset: bool,
    /// Whether columns follow each other in memory; rows do otherwise.
    pub row_major: bool,
    /// The leading dimension: elements from one row (or column) to the next.
    pub ld: usize,
    /// Whether four neighbours can be loaded at once.
    pub quads: bool,
    /// Steps along the batch axes.
    pub batch: Vec<isize>,
}

impl Operand {
    /// Input `index`, of rank 2 or more, in place or copied. `batch` are steps
    /// along the input's own batch axes.
    pub fn new(plan: &mut PlanBuilder<'_>, call: &Call, index: usize) -> Operand {
        let spec = call.input(index);
        let strides = spec.strides();
        let rank = spec.rank();
        let (rows, columns) = (spec.shape[rank - 2], spec.shape[rank - 1]);
        let (row, column) = (strides[rank - 2], strides[rank - 1]);
        let batch = &strides[..rank - 2];
        let walks_up = |step: isize, extent: usize| extent <= 1 || step >= 0;
        let in_place = batch
            .iter()
            .zip(&spec.shape)
            .all(|(&step, &extent)| walks_up(step, extent))
            && walks_up(row, rows)
            && walks_up(column, columns);
        if in_place && !spec.is_dense() && !spec.is_empty() {
            let orientation = match (row, column) {
                (_, 1) => Some((true, row)),
                (1, _) => Some((false, column)),
                _ => None,
            };
            if let Some((row_major, ld)) = orientation {
                return Operand {
                    slot: Slot::Input(index),
                    dtype: spec.dtype,
                    late_offset: true,
                    row_major,
                    ld: ld.unsigned_abs(),
                    quads: false,
                    batch: batch.to_vec(),
                };
            }
        }
        let batch = row_major(&spec.shape)[..rank - 2].to_vec();
        Operand::dense(plan.dense(index), spec.dtype, columns, batch)
    }

    /// A dense row-major slot.
    fn dense(slot: Slot, dtype: DType, columns: usize, batch: Vec<isize>) -> Operand {
        Operand {
            slot,
            dtype,
            late_offset: false,
            row_major: true,
            ld: columns,
            quads: columns.is_multiple_of(4),
            batch,
        }
    }

    /// The same matrices with rows and columns exchanged.
    pub fn transposed(mut self) -> Operand {
        self.row_major = !self.row_major;
        self
    }

    /// The same matrices, transposed if asked for.
    pub fn transposed_if(self, condition: bool) -> Operand {
        if condition { self.transposed() } else { self }
    }

    /// The step from one row to the next.
    pub fn row_step(&self) -> isize {
        if self.row_major { self.ld as isize } else { 1 }
    }

    /// The step from one column to the next.
    pub fn column_step(&self) -> isize {
        if self.row_major { 1 } else { self.ld as isize }
    }

    /// The same matrices along batch axes of these extents, copied so that
    /// they follow each other in memory.
    pub fn expanded(
        self,
        plan: &mut PlanBuilder<'_>,
        extents: &[usize],
        rows: usize,
        columns: usize,
    ) -> Operand {
        let mut shape = extents.to_vec();
        shape.extend([rows, columns]);
        let mut strides = self.batch.clone();
        strides.extend([self.row_step(), self.column_step()]);
        let bytes = dense_bytes(self.dtype, shape.iter().product());
        let to = plan.scratch("expanded factor", bytes);
        plan.copy_axes(self.slot, self.dtype, &shape, &strides, to);
        let batch = row_major(&shape)[..extents.len()].to_vec();
        Operand::dense(to, self.dtype, columns, batch)
    }
}
