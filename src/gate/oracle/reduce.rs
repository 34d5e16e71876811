//! Reductions one element after another, in f64 or exact integers, by the index
//! of every element; and the bounds of f32 implementations.

use crate::dtype::DType;
use crate::error::Result;
use crate::gate::Expected;
use crate::gate::oracle::store_rounding;
use crate::host::HostTensor;
use crate::kernels::reduce::forward::Kind;
use crate::kernels::reduce::steps::depth;
use crate::operation::Call;
use crate::spec::{resolve_axis, row_major};

/// Unit roundoff of f32.
pub(crate) const U: f64 = 5.960464477539063e-8;
/// The smallest normal f32: less may be flushed to zero.
pub(crate) const TINY: f64 = 1.1754943508222875e-38;
/// The largest f32.
pub(crate) const HUGE: f64 = f32::MAX as f64;

/// n·u/(1 − n·u), the factor of Σ|x| that n successive roundings cost (Higham:
/// Accuracy and Stability of Numerical Algorithms, 2002, lemma 3.1).
pub(crate) fn gamma(n: usize) -> f64 {
    n as f64 * U / (1.0 - n as f64 * U)
}

/// The positions of each result's elements, in order.
pub(crate) fn groups(call: &Call, shape: &[usize]) -> Result<Vec<Vec<usize>>> {
    let axes = call.params.ints("axes");
    let mut reduced = vec![axes.is_empty(); shape.len()];
    for &axis in axes {
        reduced[resolve_axis(call.name(), axis, shape.len())?] = true;
    }
    let kept: Vec<usize> = shape
        .iter()
        .zip(&reduced)
        .map(|(&d, &r)| if r { 1 } else { d })
        .collect();
    let (own, target) = (row_major(shape), row_major(&kept));
    let mut groups = vec![Vec::new(); kept.iter().product()];
    for position in 0..shape.iter().product() {
        let mut result = 0;
        for axis in 0..shape.len() {
            if !reduced[axis] {
                result += position / own[axis] as usize % shape[axis] * target[axis] as usize;
            }
        }
        groups[result].push(position);
    }
    Ok(groups)
}

/// An exact value and how far an f32 implementation may be from it.
type Bounded = (f64, f64);

pub(crate) fn reduce(kind: Kind, call: &Call, x: &HostTensor) -> Result<Expected> {
    let groups = groups(call, x.shape())?;
    let shape = &call.outputs[0].shape;
    let values = x.to_f64();
    let of = |group: &Vec<usize>| group.iter().map(|&p| values[p]).collect::<Vec<f64>>();
    if kind.is_index() {
        let found = groups.iter().map(|g| first_extreme(&of(g), kind) as i32);
        return Ok(Expected::Exact(HostTensor::new(shape, found.collect())?));
    }
    if !x.dtype().is_float() {
        let results: Vec<i64> = groups.iter().map(|g| integer(&of(g), kind)).collect();
        return Ok(Expected::Exact(match x.dtype() {
            DType::I32 => HostTensor::new(shape, results.iter().map(|&v| v as i32).collect())?,
            _ => HostTensor::new(shape, results.iter().map(|&v| v as u32).collect())?,
        }));
    }
    let correction = call.params.float("correction");
    let bounded = groups.iter().map(|g| match kind {
        Kind::Sum => sum(&of(g)),
        Kind::Mean => mean(&of(g)),
        Kind::Var => variance(&of(g), correction),
        Kind::Prod => product(&of(g)),
        _ => (extreme(&of(g), kind == Kind::Max), 0.0),
    });
    Ok(close(x.dtype(), bounded))
}

/// Values within their bounds, after the rounding to a stored dtype.
pub(crate) fn close(dtype: DType, bounded: impl Iterator<Item = Bounded>) -> Expected {
    let (values, allowed) = bounded
        .map(|(value, error)| {
            // An f32's last rounding is part of its bound; what is exact stays so in any dtype.
            let stored = if value.is_finite() && error > 0.0 && dtype != DType::F32 {
                store_rounding(dtype, value.abs() + error)
            } else {
                0.0
            };
            (value, error + stored)
        })
        .unzip();
    Expected::Close { values, allowed }
}

fn integer(values: &[f64], kind: Kind) -> i64 {
    let values = values.iter().map(|&v| v as i64);
    match kind {
        Kind::Prod => values.fold(1i64, i64::wrapping_mul),
        Kind::Min => values.min().unwrap_or(0),
        Kind::Max => values.max().unwrap_or(0),
        _ => values.fold(0i64, i64::wrapping_add),
    }
}

fn extreme(values: &[f64], largest: bool) -> f64 {
    let mut best = if largest {
        f64::NEG_INFINITY
    } else {
        f64::INFINITY
    };
    for &v in values {
        if v.is_nan() {
            return f64::NAN;
        }
        if (largest && v > best) || (!largest && v < best) {
            best = v;
        }
    }
    best
}

fn first_extreme(values: &[f64], kind: Kind) -> usize {
    let mut best = 0;
    for (i, &v) in values.iter().enumerate() {
        if v.is_nan() {
            return i;
        }
        let better = if kind == Kind::ArgMax {
            v > values[best]
        } else {
            v < values[best]
        };
        if better {
            best = i;
        }
    }
    best
}

/// A sum whose own error is that of one rounding (Neumaier 1974).
pub(crate) fn exact_sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0);
    for v in values {
        let total = sum + v;
        lost += if sum.abs() >= v.abs() {
            (sum - total) + v
        } else {
            (v - total) + sum
        };
        sum = total;
    }
    if sum.is_finite() { sum + lost } else { sum }
}

/// Σx within γ(depth)·Σ|x|. Where Σ|x| is beyond f32, so may be a partial sum.
fn sum(values: &[f64]) -> Bounded {
    let magnitude: f64 = values.iter().map(|v| v.abs()).sum();
    let error = match magnitude {
        m if !m.is_finite() => 0.0,
        m if m * (1.0 + 1e-4) > HUGE => f64::INFINITY,
        // The last addition's rounding is one of the depth's.
        m => gamma(depth(values.len()).saturating_sub(1)) * m + values.len() as f64 * TINY,
    };
    (exact_sum(values.iter().copied()), error)
}

/// A sum and a division: 2.5 units in the last place, 5U.
fn mean(values: &[f64]) -> Bounded {
    let (sum, error) = sum(values);
    let n = values.len() as f64;
    let y = sum / n;
    let error = if values.is_empty() { 0.0 } else { error / n };
    let division = if y.is_finite() {
        y.abs() * 7.0 * U
    } else {
        0.0
    };
    (y, error + division)
}

/// Πx within n roundings, each relative; unless a partial product could leave f32's range.
fn product(values: &[f64]) -> Bounded {
    let y: f64 = values.iter().product();
    if values.iter().any(|v| v.is_nan()) {
        return (f64::NAN, 0.0);
    }
    let (mut up, mut down) = (0.0f64, 0.0f64);
    for v in values.iter().filter(|v| v.is_finite() && **v != 0.0) {
        up += v.abs().log2().max(0.0);
        down += v.abs().log2().min(0.0);
    }
    let special = values.iter().any(|v| v.is_infinite() || *v == 0.0);
    if up > 127.0 || down < -125.0 {
        // Exact only as far as the order of multiplications matters to nobody.
        return (y, f64::INFINITY);
    }
    let error = if special {
        0.0
    } else {
        y.abs() * gamma(values.len())
    };
    (y, error)
}

/// The variance of f32 Values merged pairwise, relative to the first element.
///
/// With D the depth, A = max|x − first| and M the sum of squared deviations:
/// each mean is off by ε = (4D + 1)·U·A at most, since a merge averages the
/// errors of its parts and adds roundings of |mean| and |delta|·share. A merge
/// of parts a and b adds delta²·w, w = n_a·n_b/n; the weights sum to W ≤
/// n·(1 + D/4), and by Cauchy and Schwarz Σ w·2|delta|·ε' ≤ 2ε'·√(W·M), where
/// ε' = 2ε for the two means. The roundings of the terms themselves: 10·D·U·M.
fn variance(values: &[f64], correction: f64) -> Bounded {
    let n = values.len() as f64;
    if values.is_empty() {
        return (f64::NAN, 0.0);
    }
    let divisor = ((n - correction).max(0.0) as f32) as f64;
    let mean = exact_sum(values.iter().copied()) / n;
    let m2 = exact_sum(values.iter().map(|v| (v - mean) * (v - mean)));
    let y = m2 / divisor;
    if !y.is_finite() {
        return (y, 0.0);
    }
    let (error, _) = moments_error(values, m2);
    // Partial sums of squares beyond f32.
    let reach = values
        .iter()
        .fold(0.0f64, |a, v| a.max((v - values[0]).abs()));
    if m2 * 1.01 > HUGE || reach * reach * 4.0 > HUGE {
        return (y, f64::INFINITY);
    }
    (y, (error + n * TINY) / divisor + y * 10.0 * U)
}

/// The errors of the sum of squared deviations and of the mean relative to the first element.
fn moments_error(values: &[f64], m2: f64) -> Bounded {
    let n = values.len() as f64;
    let d = depth(values.len()) as f64;
    let reach = values
        .iter()
        .fold(0.0f64, |a, v| a.max((v - values[0]).abs()));
    let mean_off = (4.0 * d + 1.0) * U * reach;
    let weights = n * (1.0 + d / 4.0);
    let off = 2.0 * mean_off;
    let error = 2.0 * off * (weights * m2).sqrt() + off * off * weights + 10.0 * d * U * m2;
    (error, mean_off)
}

pub(crate) fn backward(
    kind: Kind,
    call: &Call,
    x: &HostTensor,
    cotangent: &HostTensor,
) -> Result<Expected> {
    let (values, dy) = (x.to_f64(), cotangent.to_f64());
    let mut bounded = vec![(0.0, 0.0); values.len()];
    for (group, &dy) in groups(call, x.shape())?.iter().zip(&dy) {
        let of: Vec<f64> = group.iter().map(|&p| values[p]).collect();
        let n = of.len() as f64;
        let gradients: Vec<Bounded> = match kind {
            Kind::Sum => vec![(dy, 0.0); of.len()],
            Kind::Mean => vec![(dy / n, (dy / n).abs() * 7.0 * U + TINY); of.len()],
            Kind::Var => variance_gradient(&of, dy, call.params.float("correction")),
            Kind::Prod => product_gradient(&of, dy),
            _ => tie_gradient(&of, dy, kind == Kind::Max),
        };
        group
            .iter()
            .zip(gradients)
            .for_each(|(&p, g)| bounded[p] = g);
    }
    Ok(close(x.dtype(), bounded.into_iter()))
}

fn variance_gradient(values: &[f64], dy: f64, correction: f64) -> Vec<Bounded> {
    let n = values.len() as f64;
    let divisor = (n - correction).max(0.0);
    let mean = exact_sum(values.iter().copied()) / n;
    let m2 = exact_sum(values.iter().map(|v| (v - mean) * (v - mean)));
    let (_, mean_off) = moments_error(values, m2);
    let gradient = |v: &f64| {
        if divisor == 0.0 {
            return (f64::NAN, 0.0);
        }
        let scale = 2.0 * dy / divisor;
        let y = scale * (v - mean);
        let off = scale.abs() * (mean_off + 2.0 * U * ((v - values[0]).abs() + (v - mean).abs()));
        (y, off + y.abs() * 12.0 * U + TINY)
    };
    values.iter().map(gradient).collect()
}

fn product_gradient(values: &[f64], dy: f64) -> Vec<Bounded> {
    let zeros = values.iter().filter(|v| **v == 0.0).count();
    let (mut up, mut down) = (0.0f64, 0.0f64);
    for v in values.iter().filter(|v| v.is_finite() && **v != 0.0) {
        up += v.abs().log2().max(0.0);
        down += v.abs().log2().min(0.0);
    }
    let whole: f64 = values.iter().filter(|v| **v != 0.0).product();
    let gradient = |v: &f64| {
        let y = match (*v == 0.0, zeros) {
            (false, 0) => dy * whole / v,
            (true, 1) => dy * whole,
            _ => 0.0,
        };
        if up > 120.0 || down < -120.0 {
            return (y, f64::INFINITY);
        }
        (y, y.abs() * (gamma(values.len() + 1) + 6.0 * U) + TINY)
    };
    values.iter().map(gradient).collect()
}

fn tie_gradient(values: &[f64], dy: f64, largest: bool) -> Vec<Bounded> {
    let best = extreme(values, largest);
    let ties = |v: f64| v == best || (v.is_nan() && best.is_nan());
    let count = values.iter().filter(|v| ties(**v)).count() as f64;
    let share = dy / count;
    let error = if count == 1.0 {
        0.0
    } else {
        share.abs() * 7.0 * U + TINY
    };
    values
        .iter()
        .map(|&v| if ties(v) { (share, error) } else { (0.0, 0.0) })
        .collect()
}
