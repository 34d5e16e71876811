//! Reductions of [outer, extent, inner] in blocks, trees and threads.

use crate::cpu::number::{BLOCK, Number, Stored};
use crate::cpu::parallel;
use crate::cpu::reduce::operators::Operator;

/// Elements of a column that are combined one after another.
const COLUMN_BLOCK: usize = 64;
/// Columns that are reduced side by side.
const COLUMNS: usize = BLOCK;
/// Elements below which a second thread is not worth its start.
const GRAIN: usize = 1 << 15;

/// The Values of all results in order. Nothing is empty.
pub(crate) fn values<N: Number, O: Operator<N>>(
    operator: &O,
    data: &(impl Stored<N> + ?Sized),
    [outer, extent, inner]: [usize; 3],
) -> Vec<O::Value> {
    if inner == 1 {
        // Short rows by the group, so that a thread has something to do.
        let group = (GRAIN / extent).clamp(1, outer);
        let groups = parallel::map(outer.div_ceil(group), |g| {
            let rows = g * group..outer.min((g + 1) * group);
            let row = |r: usize| {
                let first = data.block(r * extent, 1, &mut [N::default(); BLOCK])[0];
                let row = Row {
                    operator,
                    data,
                    low: r * extent,
                    first,
                };
                row.reduce(0, extent)
            };
            rows.map(row).collect::<Vec<_>>()
        });
        return groups.concat();
    }
    let strips = inner.div_ceil(COLUMNS);
    let parts = parallel::map(outer * strips, |part| {
        let left = part % strips * COLUMNS;
        let columns = Columns {
            operator,
            data,
            start: part / strips * extent * inner + left,
            inner,
            width: COLUMNS.min(inner - left),
        };
        columns.reduce(0, extent)
    });
    parts.concat()
}

struct Row<'a, N, O, S: ?Sized> {
    operator: &'a O,
    data: &'a S,
    low: usize,
    first: N,
}

impl<N: Number, O: Operator<N>, S: Stored<N> + ?Sized> Row<'_, N, O, S> {
    fn reduce(&self, from: usize, to: usize) -> O::Value {
        let n = to - from;
        if n <= BLOCK {
            let mut buffer = [N::default(); BLOCK];
            let block = self.data.block(self.low + from, n, &mut buffer);
            return parallel::vectorised(
                #[inline(always)]
                || self.operator.block(block, from, self.first),
            );
        }
        let middle = from + n.div_ceil(BLOCK).div_ceil(2) * BLOCK;
        let left = || self.reduce(from, middle);
        let right = || self.reduce(middle, to);
        let (left, right) = parallel::join_if(n > GRAIN, left, right);
        self.operator.combine(left, right)
    }
}

struct Columns<'a, O, S: ?Sized> {
    operator: &'a O,
    data: &'a S,
    start: usize,
    inner: usize,
    width: usize,
}

impl<O, S: ?Sized> Columns<'_, O, S> {
    fn reduce<N: Number>(&self, from: usize, to: usize) -> Vec<O::Value>
    where
        O: Operator<N>,
        S: Stored<N>,
    {
        let n = to - from;
        if n <= COLUMN_BLOCK {
            let mut values = vec![self.operator.identity(); self.width];
            let mut first_buffer = [N::default(); BLOCK];
            let first = self.data.block(self.start, self.width, &mut first_buffer);
            let mut buffer = [N::default(); BLOCK];
            for i in from..to {
                let at = self.start + i * self.inner;
                let row = self.data.block(at, self.width, &mut buffer);
                for ((value, &x), &first) in values.iter_mut().zip(row).zip(first) {
                    *value = self
                        .operator
                        .combine(*value, self.operator.lift(x, i, first));
                }
            }
            return values;
        }
        let middle = from + n.div_ceil(COLUMN_BLOCK).div_ceil(2) * COLUMN_BLOCK;
        let left = || self.reduce(from, middle);
        let right = || self.reduce(middle, to);
        let (mut left, right) = parallel::join_if(n * self.width > GRAIN, left, right);
        for (a, b) in left.iter_mut().zip(right) {
            *a = self.operator.combine(*a, b);
        }
        left
    }
}
