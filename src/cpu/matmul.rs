//! The CPU twin of matmul and its gradient, through the `gemm` crate: blocked
//! for the caches, vectorised for the processor at hand, on all cores.

use crate::cpu::parallel;
use crate::error::Result;
use crate::host::HostTensor;
use crate::kernels::matmul::{
    BIAS, C, Extents, GradientProduct, broadcast_steps, epilogue_of, gradient_axes,
};
use crate::operation::Call;
use crate::spec::{TensorSpec, broadcast_strides, row_major};

/// Matrices in one slice, by their steps in elements.
struct Matrices<'a> {
    data: &'a [f32],
    row: usize,
    column: usize,
    /// Steps along the batch axes.
    batch: Vec<usize>,
}

impl<'a> Matrices<'a> {
    /// The matrices of `tensor`, transposed if asked for, along `batch`.
    fn new(data: &'a [f32], shape: &[usize], transposed: bool, batch: &[usize]) -> Matrices<'a> {
        let own = &shape[..shape.len() - 2];
        let steps = broadcast_steps(own, &row_major(shape)[..own.len()], batch);
        let ld = shape[shape.len() - 1];
        let (row, column) = if transposed { (1, ld) } else { (ld, 1) };
        Matrices {
            data,
            row,
            column,
            batch: steps.into_iter().map(isize::unsigned_abs).collect(),
        }
    }
}

/// The extents of one product.
#[derive(Clone, Copy)]
struct Shape {
    m: usize,
    n: usize,
    k: usize,
}

/// out += alpha · a · b for one pair of matrices; `out` is dense and m × n.
fn multiply(
    out: &mut [f32],
    (a, a_first): (&Matrices<'_>, usize),
    (b, b_first): (&Matrices<'_>, usize),
    shape: Shape,
    alpha: f32,
    threads: gemm::Parallelism,
) {
    let Shape { m, n, k } = shape;
    if m == 0 || n == 0 || k == 0 {
        return;
    }
    let last = |x: &Matrices<'_>, first: usize, rows: usize, columns: usize| {
        first + (rows - 1) * x.row + (columns - 1) * x.column
    };
    assert!(out.len() == m * n, "one matrix of the result");
    assert!(last(a, a_first, m, k) < a.data.len(), "a lies in its data");
    assert!(last(b, b_first, k, n) < b.data.len(), "b lies in its data");
    // SAFETY: the elements of `out`, a and b that the extents and steps reach lie in
    // their slices, as just asserted, and `out` is borrowed mutably: nothing aliases it.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            out.as_mut_ptr(),
            1,
            n as isize,
            true,
            a.data.as_ptr().add(a_first),
            a.column as isize,
            a.row as isize,
            b.data.as_ptr().add(b_first),
            b.column as isize,
            b.row as isize,
            1.0,
            alpha,
            false,
            false,
            false,
            threads,
        );
    }
}

/// All cores for one product.
fn all_threads() -> gemm::Parallelism {
    #[cfg(feature = "parallel")]
    return gemm::Parallelism::Rayon(0);
    #[cfg(not(feature = "parallel"))]
    gemm::Parallelism::None
}

/// Products with fewer operations are too small to be shared by threads: many of them are
/// spread over threads whole.
const SMALL: usize = 1 << 21;

/// alpha · a · b summed over the outermost `summed` of the batch axes, densely.
fn products(
    a: &Matrices<'_>,
    b: &Matrices<'_>,
    batch: &[usize],
    summed: usize,
    shape: Shape,
    alpha: f32,
) -> Vec<f32> {
    let matrix = shape.m * shape.n;
    let kept: usize = batch[summed..].iter().product();
    let terms: usize = batch[..summed].iter().product();
    let mut out = vec![0.0f32; kept * matrix];
    if out.is_empty() || alpha == 0.0 {
        return out;
    }
    let first = |x: &Matrices<'_>, mut index: usize| {
        let mut at = 0;
        for axis in (0..batch.len()).rev() {
            at += index % batch[axis] * x.batch[axis];
            index /= batch[axis];
        }
        at
    };
    let one = |i: usize, out: &mut [f32], threads: gemm::Parallelism| {
        for term in 0..terms {
            let index = term * kept + i;
            let (a_first, b_first) = (first(a, index), first(b, index));
            multiply(out, (a, a_first), (b, b_first), shape, alpha, threads);
        }
    };
    // One right factor for all left ones that follow each other: one tall product.
    let shared = summed == 0
        && b.batch.iter().all(|&step| step == 0)
        && a.column == 1
        && a.data.len() == kept * shape.m * shape.k;
    if shared {
        let tall = Shape {
            m: kept * shape.m,
            ..shape
        };
        multiply(&mut out, (a, 0), (b, 0), tall, alpha, all_threads());
    } else if kept > 1 && matrix * shape.k < SMALL {
        parallel::chunks_mut(&mut out, matrix, |i, out| {
            one(i, out, gemm::Parallelism::None);
        });
    } else {
        out.chunks_mut(matrix)
            .enumerate()
            .for_each(|(i, out)| one(i, out, all_threads()));
    }
    out
}

/// epilogue(alpha · op(a) · op(b) + beta · c + bias).
pub(crate) fn matmul(call: &Call, inputs: &[Option<&HostTensor>]) -> Result<HostTensor> {
    let extents = Extents::of(call)?;
    let (a, b) = (present(call, inputs, 0)?, present(call, inputs, 1)?);
    let shape = Shape {
        m: extents.m,
        n: extents.n,
        k: extents.k,
    };
    let (a_data, b_data) = (a.values(), b.values());
    let matrices = |data, tensor: &HostTensor, trans: &str| {
        Matrices::new(
            data,
            tensor.shape(),
            call.params.bool(trans),
            &extents.batch,
        )
    };
    let mut y = products(
        &matrices(&a_data, a, "trans_a"),
        &matrices(&b_data, b, "trans_b"),
        &extents.batch,
        0,
        shape,
        call.params.float("alpha") as f32,
    );
    finish(call, inputs, &extents, &mut y);
    HostTensor::from_f32(a.dtype(), &extents.result(), y)
}

/// Adds c and bias and applies the epilogue, row by row.
fn finish(call: &Call, inputs: &[Option<&HostTensor>], extents: &Extents, y: &mut [f32]) {
    let beta = call.params.float("beta") as f32;
    let optional = |index: usize| inputs.get(index).copied().flatten();
    let c = optional(C).filter(|_| beta != 0.0);
    let bias = optional(BIAS).map(|bias| bias.to_f32());
    let math = epilogue_of(call).math();
    if y.is_empty() || (c.is_none() && bias.is_none() && math.is_none()) {
        return;
    }
    let c = c.map(|c| {
        let spec = TensorSpec::new(c.dtype(), c.shape());
        (c.to_f32(), broadcast_strides(&spec, &extents.result()))
    });
    let rows = &extents.result()[..extents.batch.len() + 1];
    parallel::chunks_mut(y, extents.n, |mut row, y| {
        if let Some((c, strides)) = &c {
            let mut at = 0;
            for axis in (0..rows.len()).rev() {
                at += row % rows[axis] * strides[axis].unsigned_abs();
                row /= rows[axis];
            }
            let column = strides[rows.len()].unsigned_abs();
            for (j, y) in y.iter_mut().enumerate() {
                *y += beta * c[at + j * column];
            }
        }
        if let Some(bias) = &bias {
            y.iter_mut().zip(bias).for_each(|(y, bias)| *y += bias);
        }
        if let Some(math) = math {
            y.iter_mut().for_each(|y| *y = (math.cpu)(*y, [0.0; 2]));
        }
    });
}

/// The gradients of a and b.
pub(crate) fn matmul_backward(
    call: &Call,
    inputs: &[Option<&HostTensor>],
) -> Result<Vec<HostTensor>> {
    let extents = Extents::of(call)?;
    let mut gradients = Vec::with_capacity(2);
    for index in 0..2 {
        let gradient = GradientProduct::of(call, &extents, index);
        let (axes, summed) = gradient_axes(call, &extents, index);
        let batch: Vec<usize> = axes.iter().map(|&axis| extents.batch[axis]).collect();
        let (left, right) = (
            present(call, inputs, gradient.left.0)?,
            present(call, inputs, gradient.right.0)?,
        );
        let (left_data, right_data) = (left.values(), right.values());
        let matrices = |data, tensor: &HostTensor, transposed| {
            let mut matrices = Matrices::new(data, tensor.shape(), transposed, &extents.batch);
            matrices.batch = axes.iter().map(|&axis| matrices.batch[axis]).collect();
            matrices
        };
        let values = products(
            &matrices(&left_data, left, gradient.left.1),
            &matrices(&right_data, right, gradient.right.1),
            &batch,
            summed,
            Shape {
                m: gradient.rows,
                n: gradient.columns,
                k: gradient.depth,
            },
            call.params.float("alpha") as f32,
        );
        let like = present(call, inputs, index)?;
        gradients.push(HostTensor::from_f32(like.dtype(), like.shape(), values)?);
    }
    Ok(gradients)
}

/// Required input `index`.
fn present<'a>(
    call: &Call,
    inputs: &[Option<&'a HostTensor>],
    index: usize,
) -> Result<&'a HostTensor> {
    crate::kernels::softmax::required(call, inputs, index)
}
