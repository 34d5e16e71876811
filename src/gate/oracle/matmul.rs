//! Products in f64 by the definition, and the bounds of f32 implementations.

use crate::cpu::parallel;
use crate::dtype::DType;
use crate::error::Result;
use crate::gate::Expected;
use crate::gate::oracle::store_rounding;
use crate::host::HostTensor;
use crate::kernels::matmul::{
    BIAS, C, Epilogue, Extents, GradientProduct, broadcast_steps, epilogue_of, gradient_axes,
};
use crate::kernels::softmax::required;
use crate::operation::Call;
use crate::spec::{TensorSpec, broadcast_strides, row_major};

/// Unit roundoff of f32.
const U: f64 = 5.960464477539063e-8;
/// The smallest normal f32: less may be flushed to zero.
const TINY: f64 = 1.1754943508222875e-38;
/// f32 holds every integer up to here.
const EXACT: f64 = 16_777_216.0;

/// Matrices in one vector, by their steps in elements.
struct Matrices {
    data: Vec<f64>,
    row: usize,
    column: usize,
    batch: Vec<usize>,
}

impl Matrices {
    fn new(tensor: &HostTensor, transposed: bool, batch: &[usize]) -> Matrices {
        let shape = tensor.shape();
        let own = &shape[..shape.len() - 2];
        let steps = broadcast_steps(own, &row_major(shape)[..own.len()], batch);
        let ld = shape[shape.len() - 1];
        let (row, column) = if transposed { (1, ld) } else { (ld, 1) };
        Matrices {
            data: tensor.to_f64(),
            row,
            column,
            batch: steps.into_iter().map(isize::unsigned_abs).collect(),
        }
    }

    /// Where the matrix at `index` of the batch starts.
    fn first(&self, batch: &[usize], mut index: usize) -> usize {
        let mut at = 0;
        for axis in (0..batch.len()).rev() {
            at += index % batch[axis] * self.batch[axis];
            index /= batch[axis];
        }
        at
    }
}

/// Sums of products, and of their magnitudes, of every row of a result.
struct Sums {
    exact: Vec<f64>,
    magnitude: Vec<f64>,
}

/// Σ a·b over the summed axis and the outermost `summed` of the batch axes.
fn sums(
    (a, b): (&Matrices, &Matrices),
    batch: &[usize],
    summed: usize,
    (m, n, k): (usize, usize, usize),
) -> Sums {
    let kept: usize = batch[summed..].iter().product();
    let terms: usize = batch[..summed].iter().product();
    let rows = parallel::map_coarse(kept * m, |row| {
        let (matrix, i) = (row / m, row % m);
        let mut exact = vec![0.0; n];
        let mut magnitude = vec![0.0; n];
        for term in 0..terms {
            let index = term * kept + matrix;
            let (a_first, b_first) = (a.first(batch, index), b.first(batch, index));
            for l in 0..k {
                let x = a.data[a_first + i * a.row + l * a.column];
                let from = b_first + l * b.row;
                for j in 0..n {
                    let product = x * b.data[from + j * b.column];
                    exact[j] += product;
                    magnitude[j] += product.abs();
                }
            }
        }
        (exact, magnitude)
    });
    let mut sums = Sums {
        exact: Vec::with_capacity(kept * m * n),
        magnitude: Vec::with_capacity(kept * m * n),
    };
    for (exact, magnitude) in rows {
        sums.exact.extend(exact);
        sums.magnitude.extend(magnitude);
    }
    sums
}

/// The error of a sum of n products of any order, relative to the sum of their
/// magnitudes: γ of n.
fn gamma(n: usize) -> f64 {
    let n = n as f64 * U;
    n / (1.0 - n)
}

/// What becomes of a sum.
struct Finish<'a> {
    alpha: f64,
    /// beta · c at each element.
    c: Option<Vec<f64>>,
    bias: Option<&'a [f64]>,
    epilogue: Epilogue,
    dtype: DType,
    n: usize,
    depth: usize,
}

impl Finish<'_> {
    /// The exact result and its bound.
    fn apply(&self, i: usize, sum: f64, magnitude: f64) -> (f64, f64) {
        let scaled = self.alpha * sum;
        let floor = (self.depth as f64 + 4.0) * TINY * (1.0 + self.alpha.abs());
        let mut error = self.alpha.abs() * gamma(self.depth) * magnitude + floor;
        if self.alpha != 1.0 {
            error += U * scaled.abs();
        }
        let mut x = scaled;
        if let Some(c) = &self.c {
            x += c[i];
            error += U * (c[i].abs() + x.abs());
        }
        if let Some(bias) = self.bias {
            x += bias[i % self.n];
            error += U * x.abs();
        }
        error *= 1.01;
        let (mut y, mut error) = match self.epilogue.math() {
            None => (x, error),
            // No epilogue's slope exceeds 1.13.
            Some(math) => {
                let bound = |x: f64| (math.bound)(x, (math.oracle)(x, [0.0; 2]), [0.0; 2]);
                let own = bound(x).max(bound(x - error)).max(bound(x + error));
                ((math.oracle)(x, [0.0; 2]), 1.13 * error + own)
            }
        };
        if !y.is_finite() {
            return (y, 0.0);
        }
        // Partial sums may overflow where the exact result does not.
        if self.alpha.abs().max(1.0) * magnitude >= f32::MAX as f64 {
            return (y, f64::INFINITY);
        }
        if y.abs() > f32::MAX as f64 {
            y = y.signum() * f64::INFINITY;
            error = f64::INFINITY;
        } else if self.dtype != DType::F32 {
            error += store_rounding(self.dtype, y.abs() + error);
        }
        (y, error)
    }

    /// Whether every intermediate is an integer that f32 holds, so that results are exact.
    fn is_exact(&self, integers: bool, sums: &Sums) -> bool {
        let whole = |x: f64| x.fract() == 0.0;
        let exact_epilogue = matches!(self.epilogue, Epilogue::None | Epilogue::Relu);
        integers
            && exact_epilogue
            && whole(self.alpha)
            && self.c.iter().flatten().all(|&c| whole(c))
            && self.bias.iter().copied().flatten().all(|&b| whole(b))
            && sums.magnitude.iter().enumerate().all(|(i, &magnitude)| {
                let c = self.c.as_ref().map_or(0.0, |c| c[i].abs());
                let bias = self.bias.map_or(0.0, |b| b[i % self.n].abs());
                self.alpha.abs().max(1.0) * magnitude + c + bias <= EXACT
            })
    }

    fn expected(&self, sums: &Sums, integers: bool, shape: &[usize]) -> Result<Expected> {
        let pairs = sums.exact.iter().zip(&sums.magnitude).enumerate();
        let (values, allowed): (Vec<f64>, Vec<f64>) = pairs
            .map(|(i, (&sum, &magnitude))| self.apply(i, sum, magnitude))
            .unzip();
        if self.is_exact(integers, sums) {
            return Ok(Expected::Exact(HostTensor::from_f64(
                self.dtype, shape, &values,
            )?));
        }
        Ok(Expected::Close { values, allowed })
    }
}

fn whole(matrices: &Matrices) -> bool {
    matrices.data.iter().all(|x| x.fract() == 0.0)
}

pub(crate) fn matmul(call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Expected> {
    let extents = Extents::of(call)?;
    let (a, b) = (required(call, inputs, 0)?, required(call, inputs, 1)?);
    let shape = extents.result();
    let alpha = call.params.float("alpha") as f32 as f64;
    let beta = call.params.float("beta") as f32 as f64;
    let optional = |index: usize| inputs.get(index).copied().flatten();
    let bias = optional(BIAS).map(HostTensor::to_f64);
    let c = optional(C).filter(|_| beta != 0.0).map(|c| {
        let spec = TensorSpec::new(c.dtype(), c.shape());
        let strides = broadcast_strides(&spec, &shape);
        let values = c.to_f64();
        let n: usize = shape.iter().product();
        let at = |mut i: usize| {
            let mut at = 0;
            for axis in (0..shape.len()).rev() {
                at += i % shape[axis] * strides[axis].unsigned_abs();
                i /= shape[axis];
            }
            at
        };
        (0..n).map(|i| beta * values[at(i)]).collect()
    });
    let a_matrices = Matrices::new(a, call.params.bool("trans_a"), &extents.batch);
    let b_matrices = Matrices::new(b, call.params.bool("trans_b"), &extents.batch);
    // Where alpha is 0 the factors are not read, NaN or not.
    let depth = if alpha == 0.0 { 0 } else { extents.k };
    let sums = sums(
        (&a_matrices, &b_matrices),
        &extents.batch,
        0,
        (extents.m, extents.n, depth),
    );
    let finish = Finish {
        alpha,
        c,
        bias: bias.as_deref(),
        epilogue: epilogue_of(call),
        dtype: a.dtype(),
        n: extents.n,
        depth,
    };
    finish.expected(&sums, whole(&a_matrices) && whole(&b_matrices), &shape)
}

pub(crate) fn matmul_backward(
    call: &Call,
    inputs: &[Option<&HostTensor>],
) -> Result<Vec<Expected>> {
    let extents = Extents::of(call)?;
    let alpha = call.params.float("alpha") as f32 as f64;
    let mut expected = Vec::with_capacity(2);
    for index in 0..2 {
        let gradient = GradientProduct::of(call, &extents, index);
        let (axes, summed) = gradient_axes(call, &extents, index);
        let batch: Vec<usize> = axes.iter().map(|&axis| extents.batch[axis]).collect();
        let matrices = |(input, transposed): (usize, bool)| -> Result<Matrices> {
            let tensor = required(call, inputs, input)?;
            let mut matrices = Matrices::new(tensor, transposed, &extents.batch);
            matrices.batch = axes.iter().map(|&axis| matrices.batch[axis]).collect();
            Ok(matrices)
        };
        let (left, right) = (matrices(gradient.left)?, matrices(gradient.right)?);
        let depth = if alpha == 0.0 { 0 } else { gradient.depth };
        let sums = sums(
            (&left, &right),
            &batch,
            summed,
            (gradient.rows, gradient.columns, depth),
        );
        let like = required(call, inputs, index)?;
        let finish = Finish {
            alpha,
            c: None,
            bias: None,
            epilogue: Epilogue::None,
            dtype: like.dtype(),
            n: gradient.columns,
            depth: depth * batch[..summed].iter().product::<usize>(),
        };
        expected.push(finish.expected(&sums, whole(&left) && whole(&right), like.shape())?);
    }
    Ok(expected)
}
