//! The CPU twin of softmax and log_softmax, forward and backward.

use crate::cpu::parallel;
use crate::error::Result;
use crate::host::HostTensor;
use crate::kernels::rows::Rows;

/// softmax or log_softmax along the rows of `x`.
pub(crate) fn softmax(x: &HostTensor, rows: &Rows, log: bool) -> Result<HostTensor> {
    let mut values = x.to_f32();
    for_rows(&mut values, &[], rows, |row, _| softmax_row(row, log));
    HostTensor::from_f32(x.dtype(), x.shape(), values)
}

/// The gradient of x, from the output `y` and its cotangent.
pub(crate) fn softmax_backward(
    y: &HostTensor,
    cotangent: &HostTensor,
    rows: &Rows,
    log: bool,
) -> Result<HostTensor> {
    let mut values = y.to_f32();
    let cotangents = cotangent.to_f32();
    for_rows(&mut values, &cotangents, rows, |row, cotangent| {
        if log {
            let sum = parallel::sum(cotangent);
            row.iter_mut()
                .zip(cotangent)
                .for_each(|(y, dy)| *y = dy - y.exp() * sum);
        } else {
            let products: Vec<f32> = row.iter().zip(cotangent).map(|(y, dy)| y * dy).collect();
            let sum = parallel::sum(&products);
            row.iter_mut()
                .zip(cotangent)
                .for_each(|(y, dy)| *y *= dy - sum);
        }
    });
    HostTensor::from_f32(y.dtype(), y.shape(), values)
}

fn softmax_row(row: &mut [f32], log: bool) {
    let max = row.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b));
    let shift = if max == f32::NEG_INFINITY { 0.0 } else { max };
    let terms: Vec<f32> = row.iter().map(|v| (v - shift).exp()).collect();
    let sum = parallel::sum(&terms);
    if log {
        let log_sum = if sum == 0.0 { 0.0 } else { sum.ln() };
        row.iter_mut().for_each(|v| *v = *v - shift - log_sum);
    } else {
        let scale = if sum == 0.0 { 0.0 } else { 1.0 / sum };
        row.iter_mut().zip(&terms).for_each(|(v, e)| *v = e * scale);
    }
}

/// Applies `f` to every row of `values`, with the same row of `others` where there are any.
fn for_rows(
    values: &mut [f32],
    others: &[f32],
    rows: &Rows,
    f: impl Fn(&mut [f32], &[f32]) + Sync,
) {
    if rows.columns == 0 || rows.rows == 0 {
        return;
    }
    if rows.inner == 1 {
        parallel::chunks_mut(values, rows.columns, |i, row| {
            let first = i * rows.columns;
            f(row, others.get(first..first + rows.columns).unwrap_or(&[]));
        });
        return;
    }
    rows.for_each(|positions| {
        let positions: Vec<usize> = positions.collect();
        let mut row: Vec<f32> = positions.iter().map(|&p| values[p]).collect();
        let other: Vec<f32> = positions
            .iter()
            .filter_map(|&p| others.get(p).copied())
            .collect();
        f(&mut row, &other);
        positions.iter().zip(row).for_each(|(&p, v)| values[p] = v);
    });
}
