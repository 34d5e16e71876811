//! Products in f64 by the definition, and the bounds of f32 implementations.

use crate::cpu::parallel;
use crate::dtype::DType;
use crate::error::Result;
use crate::gate::compare::SIGNS;
use crate::gate::fill::random;
use crate::gate::oracle::store_rounding;
use crate::gate::{Expected, Sample};
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
/// Results of more products are judged by a sample: seconds otherwise.
const MOST_PRODUCTS: u64 = 1 << 28;
/// Elements in a sample.
const SAMPLES: u64 = 2048;

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

    /// The largest magnitude, if all elements are whole numbers.
    fn largest_whole(&self) -> Option<f64> {
        let whole = self.data.iter().all(|v| v.fract() == 0.0);
        whole.then(|| largest(&self.data))
    }
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, v| m.max(v.abs()))
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// A sum of products and the sum of their magnitudes.
type Sum = (f64, f64);

/// Products a · b, summed over the outermost `summed` of the batch axes.
struct Products<'a> {
    a: &'a Matrices,
    b: &'a Matrices,
    batch: &'a [usize],
    summed: usize,
    m: usize,
    n: usize,
    k: usize,
}

impl Products<'_> {
    /// Matrices of the result.
    fn kept(&self) -> usize {
        self.batch[self.summed..].iter().product()
    }

    /// Products that are summed for each of them.
    fn terms(&self) -> usize {
        self.batch[..self.summed].iter().product()
    }

    fn len(&self) -> usize {
        self.kept() * self.m * self.n
    }

    fn starts(&self, index: usize) -> (usize, usize) {
        (
            self.a.first(self.batch, index),
            self.b.first(self.batch, index),
        )
    }

    /// Every element, by the definition.
    fn all(&self) -> Vec<Sum> {
        let rows = parallel::map_coarse(self.kept() * self.m, |row| {
            let (matrix, i) = (row / self.m, row % self.m);
            let mut sums = vec![(0.0, 0.0); self.n];
            for term in 0..self.terms() {
                let (a, b) = self.starts(term * self.kept() + matrix);
                for l in 0..self.k {
                    let x = self.a.data[a + i * self.a.row + l * self.a.column];
                    let b_row = b + l * self.b.row;
                    for (j, sum) in sums.iter_mut().enumerate() {
                        let product = x * self.b.data[b_row + j * self.b.column];
                        sum.0 += product;
                        sum.1 += product.abs();
                    }
                }
            }
            sums
        });
        rows.concat()
    }

    /// The element at a position.
    fn one(&self, position: usize) -> Sum {
        let (row, j) = (position / self.n, position % self.n);
        let (matrix, i) = (row / self.m, row % self.m);
        let mut sum = (0.0, 0.0);
        for term in 0..self.terms() {
            let (a, b) = self.starts(term * self.kept() + matrix);
            for l in 0..self.k {
                let product = self.a.data[a + i * self.a.row + l * self.a.column]
                    * self.b.data[b + l * self.b.row + j * self.b.column];
                sum.0 += product;
                sum.1 += product.abs();
            }
        }
        sum
    }

    /// The weighted sum of each row's elements, a · (b · weights). Beside each, by Cauchy
    /// and Schwarz, a bound of the row's norm of sums of magnitudes.
    fn weighted(&self, weights: &[f64]) -> Vec<Sum> {
        let mut rows = vec![(0.0, 0.0); self.kept() * self.m];
        for index in 0..self.kept() * self.terms() {
            let (a, b) = self.starts(index);
            let b_rows = parallel::map_coarse(self.k, |l| {
                let mut sum = (0.0, 0.0);
                for (j, weight) in weights.iter().enumerate() {
                    let x = self.b.data[b + l * self.b.row + j * self.b.column];
                    sum.0 += x * weight;
                    sum.1 += x * x;
                }
                sum
            });
            let b_norm = b_rows.iter().map(|r| r.1).sum::<f64>().sqrt();
            let first = index % self.kept() * self.m;
            for (i, row) in rows[first..first + self.m].iter_mut().enumerate() {
                let mut square = 0.0;
                for (l, b_row) in b_rows.iter().enumerate() {
                    let x = self.a.data[a + i * self.a.row + l * self.a.column];
                    row.0 += x * b_row.0;
                    square += x * x;
                }
                row.1 += square.sqrt() * b_norm;
            }
        }
        rows
    }

    /// Whether all factors are whole, and so small that f32 holds every sum of
    /// their products, times `scale`.
    fn are_exact(&self, scale: f64) -> bool {
        let depth = (self.k * self.terms()) as f64;
        match (self.a.largest_whole(), self.b.largest_whole()) {
            (Some(a), Some(b)) => scale.abs().max(1.0) * depth * a * b <= EXACT,
            _ => false,
        }
    }
}

/// The error of a sum of n products in any order, relative to the sum of their
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
    fn apply(&self, i: usize, (sum, magnitude): Sum) -> (f64, f64) {
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
        let (y, error) = match self.epilogue.math() {
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
        match self.dtype {
            DType::F32 => (y, error),
            dtype => (y, error + store_rounding(dtype, y.abs() + error)),
        }
    }

    /// Whether every intermediate is an integer that f32 holds, so that results are exact.
    fn is_exact(&self, products: &Products<'_>) -> bool {
        let addends = [self.c.as_deref(), self.bias];
        let whole = |x: &[f64]| x.iter().all(|x| x.fract() == 0.0);
        let added: f64 = addends.iter().flatten().map(|x| largest(x)).sum();
        matches!(self.epilogue, Epilogue::None | Epilogue::Relu)
            && self.alpha.fract() == 0.0
            && addends.iter().flatten().all(|x| whole(x))
            && added < EXACT / 2.0
            && products.are_exact(2.0 * self.alpha)
    }

    fn expected(&self, products: &Products<'_>, shape: &[usize]) -> Result<Expected> {
        let exact = self.is_exact(products);
        if (products.len() as u64).saturating_mul(self.depth as u64) > MOST_PRODUCTS {
            return Ok(Expected::Sampled(self.sample(products, exact)));
        }
        let sums = products.all();
        let pairs = sums.iter().enumerate();
        let (values, allowed): (Vec<f64>, Vec<f64>) =
            pairs.map(|(i, &sum)| self.apply(i, sum)).unzip();
        if exact {
            return Ok(Expected::Exact(HostTensor::from_f64(
                self.dtype, shape, &values,
            )?));
        }
        Ok(Expected::Close { values, allowed })
    }

    /// Random elements and the last one; and the sums of rows, where elements are
    /// linear in the products.
    fn sample(&self, products: &Products<'_>, exact: bool) -> Sample {
        let exact = exact && self.dtype == DType::F32;
        let len = products.len();
        let mut positions: Vec<usize> = (0..SAMPLES)
            .map(|i| (random(1, i) % len as u64) as usize)
            .collect();
        positions.push(len - 1);
        let sums = parallel::map_coarse(positions.len(), |i| products.one(positions[i]));
        let pairs = positions.iter().zip(&sums);
        let (values, mut allowed): (Vec<f64>, Vec<f64>) =
            pairs.map(|(&i, &sum)| self.apply(i, sum)).unzip();
        if exact {
            allowed.fill(0.0);
        }
        let mut sample = Sample {
            positions,
            values,
            allowed,
            ..Sample::default()
        };
        if self.epilogue != Epilogue::None {
            return sample;
        }
        let sign = |j: usize| 1.0 - 2.0 * (random(2, j as u64) & 1) as f64;
        sample.weights = (0..self.n).map(sign).collect();
        let weigh = |x: &[f64]| -> f64 { x.iter().zip(&sample.weights).map(|(x, w)| x * w).sum() };
        let of_bias = self.bias.map_or(0.0, weigh);
        // Beside the products' own errors those of scaling and adding, and of flushed results.
        let relative = self.alpha.abs() * (gamma(self.depth) + 4.0 * U);
        let floor = store_rounding(self.dtype, 0.0) + (self.depth as f64 + 4.0) * TINY;
        let rows = products.weighted(&sample.weights).into_iter().enumerate();
        let pairs = rows.map(|(i, (sum, magnitude))| {
            let c = self.c.as_ref().map(|c| &c[i * self.n..][..self.n]);
            let addends = c.map_or(0.0, norm) + self.bias.map_or(0.0, norm);
            let error = relative * magnitude + 3.0 * U * addends + (self.n as f64).sqrt() * floor;
            let sum = self.alpha * sum + c.map_or(0.0, weigh) + of_bias;
            (sum, if exact { 0.0 } else { SIGNS * error })
        });
        let (sums, sums_allowed) = pairs.unzip();
        sample.sums = sums;
        sample.sums_allowed = sums_allowed;
        sample
    }
}

/// beta · c at each element of a result of this shape.
fn scaled_c(c: &HostTensor, beta: f64, shape: &[usize]) -> Vec<f64> {
    let strides = broadcast_strides(&TensorSpec::new(c.dtype(), c.shape()), shape);
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
}

pub(crate) fn matmul(call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Expected> {
    let extents = Extents::of(call)?;
    let (a, b) = (required(call, inputs, 0)?, required(call, inputs, 1)?);
    let shape = extents.result();
    let alpha = call.params.float("alpha") as f32 as f64;
    let beta = call.params.float("beta") as f32 as f64;
    let optional = |index: usize| inputs.get(index).copied().flatten();
    let bias = optional(BIAS).map(HostTensor::to_f64);
    let c = optional(C).filter(|_| beta != 0.0);
    let products = Products {
        a: &Matrices::new(a, call.params.bool("trans_a"), &extents.batch),
        b: &Matrices::new(b, call.params.bool("trans_b"), &extents.batch),
        batch: &extents.batch,
        summed: 0,
        m: extents.m,
        n: extents.n,
        // Where alpha is 0 the factors are not read, NaN or not.
        k: if alpha == 0.0 { 0 } else { extents.k },
    };
    let finish = Finish {
        alpha,
        c: c.map(|c| scaled_c(c, beta, &shape)),
        bias: bias.as_deref(),
        epilogue: epilogue_of(call),
        dtype: a.dtype(),
        n: extents.n,
        depth: products.k,
    };
    finish.expected(&products, &shape)
}

pub(crate) fn matmul_backward(
    call: &Call,
    inputs: &[Option<&HostTensor>],
) -> Result<Vec<Expected>> {
    let extents = Extents::of(call)?;
    let alpha = call.params.float("alpha") as f32 as f64;
    let gradient = |index: usize| {
        let gradient = GradientProduct::of(call, &extents, index);
        let (axes, summed) = gradient_axes(call, &extents, index);
        let batch: Vec<usize> = axes.iter().map(|&axis| extents.batch[axis]).collect();
        let matrices = |(input, transposed): (usize, bool)| -> Result<Matrices> {
            let tensor = required(call, inputs, input)?;
            let mut matrices = Matrices::new(tensor, transposed, &extents.batch);
            matrices.batch = axes.iter().map(|&axis| matrices.batch[axis]).collect();
            Ok(matrices)
        };
        let products = Products {
            a: &matrices(gradient.left)?,
            b: &matrices(gradient.right)?,
            batch: &batch,
            summed,
            m: gradient.rows,
            n: gradient.columns,
            k: if alpha == 0.0 { 0 } else { gradient.depth },
        };
        let like = required(call, inputs, index)?;
        let finish = Finish {
            alpha,
            c: None,
            bias: None,
            epilogue: Epilogue::None,
            dtype: like.dtype(),
            n: gradient.columns,
            depth: products.k * products.terms(),
        };
        finish.expected(&products, like.shape())
    };
    Ok(vec![gradient(0)?, gradient(1)?])
}
