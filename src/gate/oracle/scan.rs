//! Scans one element after another, in f64 or exact integers, and the bounds of
//! f32 implementations.

use crate::dtype::DType;
use crate::error::Result;
use crate::gate::Expected;
use crate::gate::oracle::reduce::{HUGE, TINY, close, gamma};
use crate::host::HostTensor;
use crate::kernels::rows::Rows;
use crate::kernels::scan::Kind;
use crate::kernels::scan::steps::{Direction, depth};

pub(crate) fn scan(
    kind: Kind,
    x: &HostTensor,
    rows: &Rows,
    direction: Direction,
) -> Result<Expected> {
    let values = x.to_f64();
    let float = x.dtype().is_float();
    let mut bounded = vec![(0.0, 0.0); values.len()];
    rows.for_each(|positions| {
        let mut positions: Vec<usize> = positions.collect();
        if direction.reverse {
            positions.reverse();
        }
        let row = positions.iter().map(|&p| values[p]);
        let scanned = match (kind, float) {
            (Kind::Sum, true) => sums(row, direction.exclusive),
            (Kind::Sum, false) => integer_sums(row, direction.exclusive, x.dtype()),
            _ => extremes(row, kind == Kind::Max, direction.exclusive, x.dtype()),
        };
        positions
            .iter()
            .zip(scanned)
            .for_each(|(&p, y)| bounded[p] = y);
    });
    if float {
        return Ok(close(x.dtype(), bounded.into_iter()));
    }
    let values = bounded.iter().map(|(v, _)| *v);
    let shape = x.shape();
    Ok(Expected::Exact(match x.dtype() {
        DType::I32 => HostTensor::new(shape, values.map(|v| v as i32).collect())?,
        _ => HostTensor::new(shape, values.map(|v| v as u32).collect())?,
    }))
}

/// Sums by Neumaier's compensated summation, within γ(depth)·Σ|x|.
fn sums(row: impl Iterator<Item = f64>, exclusive: bool) -> Vec<(f64, f64)> {
    let (mut sum, mut lost, mut magnitude) = (0.0f64, 0.0f64, 0.0f64);
    let mut count = 0usize;
    let mut scanned = Vec::new();
    for x in row {
        let state = |sum: f64, lost: f64, magnitude: f64, count: usize| {
            let y = if sum.is_finite() { sum + lost } else { sum };
            let error = match magnitude {
                m if !m.is_finite() => 0.0,
                m if m * (1.0 + 1e-4) > HUGE => f64::INFINITY,
                m => gamma(depth(count).saturating_sub(1)) * m + count as f64 * TINY,
            };
            (y, error)
        };
        if exclusive {
            scanned.push(state(sum, lost, magnitude, count));
        }
        let total = sum + x;
        lost += if sum.abs() >= x.abs() {
            (sum - total) + x
        } else {
            (x - total) + sum
        };
        sum = total;
        magnitude += x.abs();
        count += 1;
        if !exclusive {
            scanned.push(state(sum, lost, magnitude, count));
        }
    }
    scanned
}

fn integer_sums(row: impl Iterator<Item = f64>, exclusive: bool, dtype: DType) -> Vec<(f64, f64)> {
    let mut sum = 0i64;
    let wrapped = |sum: i64| match dtype {
        DType::I32 => sum as i32 as f64,
        _ => sum as u32 as f64,
    };
    row.map(|x| {
        let before = sum;
        sum += x as i64;
        (wrapped(if exclusive { before } else { sum }), 0.0)
    })
    .collect()
}

fn extremes(
    row: impl Iterator<Item = f64>,
    largest: bool,
    exclusive: bool,
    dtype: DType,
) -> Vec<(f64, f64)> {
    let mut best = match (dtype, largest) {
        (DType::I32, true) => i32::MIN as f64,
        (DType::I32, false) => i32::MAX as f64,
        (DType::U32, true) => 0.0,
        (DType::U32, false) => u32::MAX as f64,
        (_, true) => f64::NEG_INFINITY,
        (_, false) => f64::INFINITY,
    };
    row.map(|x| {
        let before = best;
        if x.is_nan() || (largest && x > best) || (!largest && x < best) {
            best = x;
        }
        (if exclusive { before } else { best }, 0.0)
    })
    .collect()
}
