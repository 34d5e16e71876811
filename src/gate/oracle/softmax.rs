//! softmax and log_softmax in f64, straight from their definitions, and the
//! bounds of f32 implementations.

use crate::cpu::parallel;
use crate::dtype::DType;
use crate::gate::Expected;
use crate::gate::oracle::store_rounding;
use crate::host::HostTensor;
use crate::kernels::rows::Rows;

/// Unit roundoff of f32.
const U: f64 = 5.960464477539063e-8;
/// The smallest normal f32: less may be flushed to zero.
const TINY: f64 = 1.1754943508222875e-38;

/// The error of a blocked sum of n positive numbers relative to it: 64 terms one
/// after another at most, and a tree, per 8192 columns.
fn sum_error(n: usize) -> f64 {
    let chain = (n as f64 / 256.0).max(64.0) + 16.0;
    chain * U / (1.0 - chain * U)
}

/// WGSL's accuracy of exp, 3 + 2|d| units in the last place (2U each), after
/// the rounding of d = x − max, which exp turns into |d|·U.
fn term_error(d: f64) -> f64 {
    (3.0 + 2.0 * d.abs()) * 2.0 * U + d.abs() * U
}

pub(crate) fn softmax(x: &HostTensor, rows: &Rows, log: bool) -> Expected {
    let values = x.to_f64();
    by_rows(rows, |positions| {
        let max = positions
            .iter()
            .fold(f64::NEG_INFINITY, |a, &p| a.max(values[p]));
        let broken = positions
            .iter()
            .any(|&p| values[p].is_nan() || values[p] == f64::INFINITY);
        let empty = max == f64::NEG_INFINITY && !broken;
        let sum: f64 = positions.iter().map(|&p| (values[p] - max).exp()).sum();
        // Errors of the terms, weighted as they enter the sum; −inf enters as an exact 0.
        let weighted = |p: &usize| {
            let d = values[*p] - max;
            if d.is_finite() {
                d.exp() / sum * term_error(d)
            } else {
                0.0
            }
        };
        let relative_sum = positions.iter().map(weighted).sum::<f64>() + sum_error(positions.len());
        let judge = |&p: &usize| {
            let d = values[p] - max;
            let (y, error) = if broken {
                (f64::NAN, 0.0)
            } else if empty || values[p] == f64::NEG_INFINITY {
                (if log { f64::NEG_INFINITY } else { 0.0 }, 0.0)
            } else if log {
                // Roundings of x − max and of the result; log: 3 ULP, or 2^-21 near 1.
                let y = d - sum.ln();
                let log_error = (3.0 * 2.0 * U * sum.ln().abs()).max(2f64.powi(-21));
                (y, (d.abs() + y.abs()) * U + log_error + relative_sum * 1.01)
            } else {
                // A product with a reciprocal: 2.5 ULP and one rounding.
                let y = d.exp() / sum;
                (
                    y,
                    y * (term_error(d) + relative_sum + 6.0 * U) * 1.01 + 2.0 * TINY,
                )
            };
            (y, error + stored(x.dtype(), y, error))
        };
        positions.iter().map(judge).collect()
    })
}

/// Judges each row, given the positions of its elements: exact results and allowed errors.
fn by_rows(rows: &Rows, judge: impl Fn(&[usize]) -> Vec<(f64, f64)> + Sync + Send) -> Expected {
    let judged = parallel::map_coarse(rows.rows, |row| {
        let positions: Vec<usize> = rows.positions(row).collect();
        judge(&positions)
    });
    let n = rows.rows * rows.columns;
    let (mut values, mut allowed) = (vec![0.0; n], vec![0.0; n]);
    for (row, judged) in judged.into_iter().enumerate() {
        for (p, (value, error)) in rows.positions(row).zip(judged) {
            values[p] = value;
            allowed[p] = error;
        }
    }
    Expected::Close { values, allowed }
}

/// Half a unit of the stored dtype at the computed value, which may lie `error` off the exact one.
fn stored(dtype: DType, y: f64, error: f64) -> f64 {
    if y.is_finite() && dtype != DType::F32 {
        store_rounding(dtype, y.abs() + error)
    } else {
        0.0
    }
}

pub(crate) fn softmax_backward(
    y: &HostTensor,
    cotangent: &HostTensor,
    rows: &Rows,
    log: bool,
) -> Expected {
    let (ys, dys) = (y.to_f64(), cotangent.to_f64());
    by_rows(rows, |positions| {
        let term = |p: usize| if log { dys[p] } else { ys[p] * dys[p] };
        let sum: f64 = positions.iter().map(|&p| term(p)).sum();
        let magnitude: f64 = positions.iter().map(|&p| term(p).abs()).sum();
        let sum_off = magnitude * (sum_error(positions.len()) + U);
        let judge = |&p: &usize| {
            let (value, error) = if log {
                let e = ys[p].exp();
                let off = e * (sum_off + sum.abs() * ((3.0 + 2.0 * ys[p].abs()) * 2.0 * U + U));
                (dys[p] - e * sum, off + U * (dys[p].abs() + (e * sum).abs()))
            } else {
                let difference = dys[p] - sum;
                (
                    ys[p] * difference,
                    ys[p].abs() * (sum_off + 2.0 * U * (dys[p].abs() + sum.abs())),
                )
            };
            let error = error * 1.01 + 2.0 * TINY;
            (value, error + stored(y.dtype(), value, error))
        };
        positions.iter().map(judge).collect()
    })
}
