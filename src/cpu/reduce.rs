//! The CPU twin of reductions, forward and backward.

mod engine;
mod operators;

use self::engine::values;
use self::operators::{Arg, Extreme, Factors, Moments, Product, Sum, Ties};
use crate::cpu::number::{Number, Stored};
use crate::cpu::parallel;
use crate::dtype::DType;
use crate::error::Result;
use crate::host::{HostData, HostTensor};
use crate::kernels::reduce::axes::Reduction;
use crate::kernels::reduce::forward::Kind;

/// The reduction `kind` of `x`; sums are divided by `divisor`.
pub(crate) fn reduce(
    kind: Kind,
    x: &HostTensor,
    reduction: &Reduction,
    divisor: f32,
) -> Result<HostTensor> {
    let shape = &reduction.result;
    let dtype = x.dtype();
    if reduction.results() == 0 {
        let dtype = if kind.is_index() { DType::I32 } else { dtype };
        return Ok(HostTensor::zeros(dtype, shape));
    }
    let permuted = reduction.permute(x)?;
    let x = permuted.as_ref().unwrap_or(x);
    let floats = |results| match results {
        Results::Numbers(values) => HostTensor::from_f32(dtype, shape, values),
        Results::Indices(values) => HostTensor::new(shape, values),
    };
    match x.data() {
        HostData::F32(v) => floats(results(kind, &v[..], reduction, divisor)),
        HostData::F16(v) => floats(results(kind, &v[..], reduction, divisor)),
        HostData::BF16(v) => floats(results(kind, &v[..], reduction, divisor)),
        HostData::I32(v) => match results(kind, &v[..], reduction, divisor) {
            Results::Numbers(values) | Results::Indices(values) => HostTensor::new(shape, values),
        },
        HostData::U32(v) => match results(kind, &v[..], reduction, divisor) {
            Results::Numbers(values) => HostTensor::new(shape, values),
            Results::Indices(values) => HostTensor::new(shape, values),
        },
    }
}

enum Results<N> {
    Numbers(Vec<N>),
    Indices(Vec<i32>),
}

fn results<N: Number, S: Stored<N> + ?Sized>(
    kind: Kind,
    data: &S,
    reduction: &Reduction,
    divisor: f32,
) -> Results<N> {
    let shape = [reduction.outer, reduction.extent, reduction.inner];
    if reduction.extent == 0 {
        let nothing = match kind {
            Kind::Prod => N::ONE,
            Kind::Mean | Kind::Var => N::from_f32(f32::NAN),
            _ => N::default(),
        };
        return Results::Numbers(vec![nothing; reduction.results()]);
    }
    let largest = matches!(kind, Kind::Max | Kind::ArgMax);
    Results::Numbers(match kind {
        Kind::Sum => values(&Sum, data, shape),
        Kind::Mean => {
            let means = values(&Sum, data, shape).into_iter();
            means
                .map(|sum| N::from_f32(sum.to_f32() / divisor))
                .collect()
        }
        Kind::Var => {
            let moments = values(&Moments, data, shape).into_iter();
            // Without degrees of freedom 0/0, or what deviates over 0.
            moments
                .map(|[_, _, m2]| N::from_f32(m2 / divisor))
                .collect()
        }
        Kind::Prod => values(&Product, data, shape),
        Kind::Min | Kind::Max => {
            let keys = values(&Extreme { largest }, data, shape).into_iter();
            keys.map(N::from_key).collect()
        }
        Kind::ArgMin | Kind::ArgMax => {
            let found = values(&Arg { largest }, data, shape).into_iter();
            return Results::Indices(found.map(|(_, index)| index as i32).collect());
        }
    })
}

/// The gradient of x, from x and the cotangent of its reduction.
pub(crate) fn backward(
    kind: Kind,
    x: &HostTensor,
    cotangent: &HostTensor,
    reduction: &Reduction,
    divisor: f32,
) -> Result<HostTensor> {
    if x.is_empty() {
        return Ok(HostTensor::zeros(x.dtype(), x.shape()));
    }
    let dtype = x.dtype();
    let permuted = reduction.permute(x)?;
    let x = permuted.as_ref().unwrap_or(x);
    let shape = [reduction.outer, reduction.extent, reduction.inner];
    let dy = cotangent.to_f32();
    let x = x.to_f32();
    let largest = kind == Kind::Max;
    let gradient = match kind {
        Kind::Sum => each(&x, shape, |_, _, r| dy[r]),
        Kind::Mean => each(&x, shape, |_, _, r| dy[r] / divisor),
        Kind::Var => {
            let moments = values(&Moments, &x[..], shape);
            let scale = 2.0 / divisor;
            each(&x, shape, |x, first, r| {
                let deviation = (x - first) - moments[r][1];
                match divisor {
                    0.0 => f32::NAN,
                    _ => dy[r] * (scale * deviation),
                }
            })
        }
        Kind::Prod => {
            let factors = values(&Factors, &x[..], shape);
            each(&x, shape, |x, _, r| match (x == 0.0, factors[r]) {
                (false, (product, 0)) => dy[r] * product / x,
                (true, (product, 1)) => dy[r] * product,
                _ => 0.0,
            })
        }
        _ => {
            let ties = Ties { largest };
            let best = values(&ties, &x[..], shape);
            each(&x, shape, |x, _, r| {
                if ties.is_best(x, best[r]) {
                    dy[r] / best[r].1 as f32
                } else {
                    0.0
                }
            })
        }
    };
    reduction.unpermute(HostTensor::from_f32(dtype, &[x.len()], gradient)?)
}

/// `f` of every element, the first of its result, and the result's number.
fn each(
    x: &[f32],
    [_, extent, inner]: [usize; 3],
    f: impl Fn(f32, f32, usize) -> f32 + Sync,
) -> Vec<f32> {
    let mut gradient = vec![0.0; x.len()];
    parallel::chunks_mut(&mut gradient, inner, |row, chunk| {
        let (outer, from) = (row / extent, row * inner);
        let first = outer * extent * inner;
        for (i, g) in chunk.iter_mut().enumerate() {
            *g = f(x[from + i], x[first + i], outer * inner + i);
        }
    });
    gradient
}
