//! Elementwise operations in f64 and exact integers, and how far off a kernel
//! may be: its bound in f32, taken over all that a device which flushes
//! subnormal inputs may have seen, and the rounding of the store.

use half::{bf16, f16};

use crate::cpu::elementwise::Operand;
use crate::cpu::parallel;
use crate::dtype::DType;
use crate::error::Result;
use crate::gate::Expected;
use crate::gate::oracle::bounds::{FLUSH, U, seen, ulps};
use crate::host::HostTensor;
use crate::kernels::elementwise::sum::{Axes, TERMS};
use crate::kernels::math_table::{BinaryDerivativePart, BinaryMath, UnaryMath};
use crate::spec::TensorSpec;

/// An exact result and the allowed error of a kernel that computes in f32.
pub(crate) type Judged = (f64, f64);

/// The dtype's largest number, and where rounding to nearest gives infinity.
fn largest(dtype: DType) -> (f64, f64) {
    match dtype {
        DType::F16 => (65504.0, 65520.0),
        DType::BF16 => {
            let max = bf16::MAX.to_f64();
            (max, max + 2f64.powi(119))
        }
        DType::F32 | DType::I32 | DType::U32 => {
            let max = f32::MAX as f64;
            (max, max + 2f64.powi(103))
        }
    }
}

/// A result computed in f32 with this error, as it is stored.
fn stored(dtype: DType, (exact, bound): Judged) -> Judged {
    // A bound that is no number allows nothing.
    let bound = if bound.is_nan() { 0.0 } else { bound };
    let (max, infinite) = largest(dtype);
    if exact.is_nan() || exact.is_infinite() || !dtype.is_float() {
        (exact, bound)
    } else if bound == 0.0 {
        // Exact in f32, and rounded to nearest even.
        let rounded = match dtype {
            DType::F16 => f16::from_f32(exact as f32).to_f64(),
            DType::BF16 => bf16::from_f32(exact as f32).to_f64(),
            _ => exact as f32 as f64,
        };
        (rounded, 0.0)
    } else if exact.abs() - bound >= infinite {
        (f64::INFINITY.copysign(exact), 0.0)
    } else if exact.abs() + bound >= max {
        // Either the largest number or infinity.
        (exact, f64::INFINITY)
    } else if dtype == DType::F32 {
        (exact, bound)
    } else {
        let reach = exact.abs() + bound;
        (exact, bound + super::store_rounding(dtype, reach))
    }
}

/// The first of several results, with an allowance that reaches all of them.
pub(crate) fn settle(dtype: DType, alternatives: impl IntoIterator<Item = Judged>) -> Judged {
    let mut alternatives = alternatives.into_iter().map(|judged| stored(dtype, judged));
    let (value, mut allowed) = alternatives.next().unwrap_or((f64::NAN, 0.0));
    for (other, bound) in alternatives {
        let distance = match other {
            _ if other == value || (other.is_nan() && value.is_nan()) => 0.0,
            _ => (other - value).abs(),
        };
        let reach = distance + bound;
        // A number where another alternative is none: anything goes.
        allowed = if reach.is_nan() {
            f64::INFINITY
        } else {
            allowed.max(reach)
        };
    }
    (value, allowed)
}

/// Expected elements, one after another.
pub(crate) fn close(judged: impl Iterator<Item = Judged>) -> Expected {
    let (values, allowed) = judged.unzip();
    Expected::Close { values, allowed }
}

/// What a float operand holds at each element of `shape`.
pub(crate) fn floats(tensor: &HostTensor, shape: &[usize]) -> Vec<f32> {
    let mut buffer = Vec::new();
    let n = shape.iter().product();
    Operand::new(tensor, shape).read(0, n, &mut buffer).to_vec()
}

/// What an integer operand holds at each element of `shape`.
pub(crate) fn integers(tensor: &HostTensor, shape: &[usize]) -> Vec<i128> {
    let values = tensor.to_f64();
    let mut integers = Vec::new();
    let n = shape.iter().product();
    Operand::new(tensor, shape).positions(0, n, |at| integers.push(values[at] as i128));
    integers
}

pub(crate) fn unary(math: &UnaryMath, x: &HostTensor, values: [f64; 2]) -> Expected {
    let p = values.map(|v| v as f32 as f64);
    let dtype = x.dtype();
    let x = floats(x, x.shape());
    let judged = parallel::map(x.len(), |i| {
        settle(
            dtype,
            seen(x[i]).map(|x| {
                let y = (math.oracle)(x.into(), p);
                (y, (math.bound)(x.into(), y, p))
            }),
        )
    });
    close(judged.into_iter())
}

pub(crate) fn binary(
    math: &BinaryMath,
    a: &HostTensor,
    b: &HostTensor,
    output: &TensorSpec,
) -> Expected {
    let (a, b) = (floats(a, &output.shape), floats(b, &output.shape));
    let judged = parallel::map(a.len(), |i| {
        let pairs = seen(a[i]).flat_map(|a| seen(b[i]).map(move |b| (f64::from(a), f64::from(b))));
        settle(
            output.dtype,
            pairs.map(|(a, b)| {
                let y = (math.oracle)(a, b);
                (y, (math.bound)(a, b, y))
            }),
        )
    });
    close(judged.into_iter())
}

/// The tensor of these integers, cut to 32 bits.
fn wrapped(dtype: DType, shape: &[usize], values: impl Iterator<Item = i128>) -> Expected {
    let words: Vec<u32> = values.map(|v| v as u32).collect();
    let tensor = HostTensor::from_bytes(dtype, shape, bytemuck::cast_slice(&words));
    // One integer for each element of the shape: the sizes agree.
    Expected::Exact(tensor.unwrap_or_else(|_| HostTensor::zeros(dtype, shape)))
}

/// Functions of one integer, in integers too wide to overflow.
pub(crate) fn integer_unary(name: &str, x: &HostTensor, values: [f64; 2]) -> Expected {
    let dtype = x.dtype();
    let [low, high] = match dtype {
        DType::I32 => values.map(|v| v as i32 as i128),
        _ => values.map(|v| v as u32 as i128),
    };
    let exact = |x: i128| match name {
        "neg" => -x,
        "abs" => x.abs(),
        "sign" => x.signum(),
        "square" => x * x,
        "clamp" => x.max(low).min(high),
        "bit_not" => -1 - x,
        _ => i128::MAX,
    };
    wrapped(
        dtype,
        x.shape(),
        integers(x, x.shape()).into_iter().map(exact),
    )
}

/// Functions of two integers, in integers too wide to overflow.
pub(crate) fn integer_binary(
    name: &str,
    a: &HostTensor,
    b: &HostTensor,
    output: &TensorSpec,
) -> Expected {
    let modulus = 1i128 << 32;
    let exact = |a: i128, b: i128| match name {
        "add" => a + b,
        "sub" => a - b,
        "mul" => a * b,
        "div" => {
            if b == 0 {
                a
            } else {
                a / b
            }
        }
        "rem" => {
            if b == 0 {
                0
            } else {
                a % b
            }
        }
        "min" => a.min(b),
        "max" => a.max(b),
        // A negative power is a fraction, which is cut to 0.
        "pow" if b < 0 => match a {
            1 => 1,
            -1 => 1 - 2 * (b & 1),
            _ => 0,
        },
        "pow" => {
            let (mut power, mut factor, mut rest) = (1, a.rem_euclid(modulus), b);
            while rest > 0 {
                if rest % 2 == 1 {
                    power = power * factor % modulus;
                }
                factor = factor * factor % modulus;
                rest /= 2;
            }
            power
        }
        "bit_and" => a & b,
        "bit_or" => a | b,
        "bit_xor" => a ^ b,
        "shift_left" => a << (b & 31),
        "shift_right" => a >> (b & 31),
        "eq" => (a == b) as i128,
        "ne" => (a != b) as i128,
        "lt" => (a < b) as i128,
        "le" => (a <= b) as i128,
        "gt" => (a > b) as i128,
        "ge" => (a >= b) as i128,
        _ => i128::MAX,
    };
    let (a, b) = (integers(a, &output.shape), integers(b, &output.shape));
    wrapped(
        output.dtype,
        &output.shape,
        a.into_iter().zip(b).map(|(a, b)| exact(a, b)),
    )
}

pub(crate) fn select(
    condition: &HostTensor,
    a: &HostTensor,
    b: &HostTensor,
    output: &TensorSpec,
) -> Expected {
    let size = output.dtype.size();
    let n = output.len();
    let mut bytes = vec![0u8; n * size];
    let taken = integers(condition, &output.shape);
    for (from, wanted) in [(a, true), (b, false)] {
        let mut k = 0;
        Operand::new(from, &output.shape).positions(0, n, |at| {
            if (taken[k] != 0) == wanted {
                let source = &from.bytes()[at * size..(at + 1) * size];
                bytes[k * size..(k + 1) * size].copy_from_slice(source);
            }
            k += 1;
        });
    }
    let tensor = HostTensor::from_bytes(output.dtype, &output.shape, &bytes);
    // As many bytes as the shape has: the sizes agree.
    Expected::Bits(tensor.unwrap_or_else(|_| HostTensor::zeros(output.dtype, &output.shape)))
}

/// Conversions by distance: of the numbers next to each other the nearest one,
/// of two as near the even one.
///
/// # Errors
/// None in practice: the number of elements stays.
pub(crate) fn cast(x: &HostTensor, to: DType) -> Result<Expected> {
    let (from, shape) = (x.dtype(), x.shape());
    let values = x.to_f64();
    if from == to {
        return Ok(Expected::Bits(x.clone()));
    }
    let tensor = match to {
        DType::I32 | DType::U32 if !from.is_float() => {
            return Ok(wrapped(to, shape, values.iter().map(|&v| v as i128)));
        }
        DType::I32 => HostTensor::new(shape, values.iter().map(|&v| v as i32).collect())?,
        DType::U32 => HostTensor::new(shape, values.iter().map(|&v| v as u32).collect())?,
        DType::F32 => HostTensor::new(shape, values.iter().map(|&v| v as f32).collect())?,
        DType::F16 => {
            let narrow = |bits| f16::from_bits(bits).to_f64();
            let bits = values.iter().map(|&v| nearest(v, 0x7c00, 65536.0, narrow));
            HostTensor::new(shape, bits.map(f16::from_bits).collect())?
        }
        DType::BF16 => {
            let narrow = |bits| bf16::from_bits(bits).to_f64();
            let bits = values
                .iter()
                .map(|&v| nearest(v, 0x7f80, 2f64.powi(128), narrow));
            HostTensor::new(shape, bits.map(bf16::from_bits).collect())?
        }
    };
    Ok(Expected::Exact(tensor))
}

/// The bits of the 16-bit float nearest to `v`, by bisection; `infinity` are
/// those of infinity, which counts as the number `end`.
fn nearest(v: f64, infinity: u16, end: f64, value: impl Fn(u16) -> f64) -> u16 {
    if v.is_nan() {
        return infinity + 1;
    }
    let magnitude = v.abs();
    let at = |bits: u16| if bits >= infinity { end } else { value(bits) };
    // at(low) <= magnitude < at(high), but for what lies beyond the end.
    let (mut low, mut high) = (0, infinity + 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if at(middle) <= magnitude {
            low = middle;
        } else {
            high = middle;
        }
    }
    let up = low + 1;
    let bits = if low == infinity {
        infinity
    } else {
        let (below, above) = (magnitude - at(low), at(up) - magnitude);
        if below < above || (below == above && low % 2 == 0) {
            low
        } else {
            up
        }
    };
    bits | if v.is_sign_negative() { 0x8000 } else { 0 }
}

/// A derivative, off by at most `bound`, times the cotangent.
fn product(derivative: f64, bound: f64, cotangent: f64) -> Judged {
    let value = derivative * cotangent;
    if derivative.is_finite() && derivative.abs() + bound >= f32::MAX as f64 {
        // The derivative alone may already be infinite.
        return (value, f64::INFINITY);
    }
    if bound == 0.0 && (derivative == 0.0 || derivative.abs() == 1.0) {
        return (value, 0.0);
    }
    (value, bound * cotangent.abs() + ulps(1.0, value))
}

pub(crate) fn unary_backward(
    math: &UnaryMath,
    x: &HostTensor,
    y: &HostTensor,
    cotangent: &HostTensor,
    values: [f64; 2],
) -> Expected {
    let p = values.map(|v| v as f32 as f64);
    let derivative = &math.derivative;
    let shape = cotangent.shape();
    let [x, y, g] = [x, y, cotangent].map(|t| floats(t, shape));
    close((0..g.len()).map(|i| {
        let pairs = seen(x[i]).flat_map(|x| seen(y[i]).map(move |y| (x.into(), y.into())));
        let triples = pairs.flat_map(|pair| seen(g[i]).map(move |g| (pair, f64::from(g))));
        settle(
            cotangent.dtype(),
            triples.map(|((x, y), g): ((f64, f64), f64)| {
                let d = (derivative.oracle)(x, y, p);
                product(d, (derivative.bound)(x, d, p), g)
            }),
        )
    }))
}

/// Judged terms, summed in f32 over the axes along which `output` was broadcast
/// to `shape`.
fn summed(shape: &[usize], output: &TensorSpec, term: impl Fn(usize, DType) -> Judged) -> Expected {
    let n: usize = shape.iter().product();
    if output.len() == n {
        return close((0..n).map(|i| term(i, output.dtype)));
    }
    let axes = Axes::new(shape, &output.shape);
    // Rounds of at most TERMS additions, each to either neighbour.
    let growth = (TERMS as u32 * axes.rounds()) as f64 * U;
    let size = output.len();
    let mut sums = vec![(0.0, 0.0, 0.0); size];
    let mut target = 0;
    let spec = TensorSpec::new(DType::F32, output.shape.clone());
    // Where each term belongs: the output read as if it had the whole shape.
    let strides = crate::spec::broadcast_strides(&spec, shape);
    let mut index = vec![0; shape.len()];
    for i in 0..n {
        let (value, allowed) = term(i, DType::F32);
        let sum: &mut (f64, f64, f64) = &mut sums[target as usize];
        *sum = (sum.0 + value, sum.1 + allowed, sum.2 + value.abs());
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            target += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            target -= strides[axis] * index[axis] as isize;
            index[axis] = 0;
        }
    }
    close(sums.into_iter().map(|(value, allowed, magnitude)| {
        let bound = allowed + growth * magnitude + FLUSH;
        stored(output.dtype, (value, bound))
    }))
}

pub(crate) fn binary_backward(
    part: &BinaryDerivativePart,
    operands: [&HostTensor; 3],
    cotangent: &HostTensor,
    output: &TensorSpec,
) -> Expected {
    let shape = cotangent.shape();
    let [a, b, y] = operands.map(|t| floats(t, shape));
    let g = floats(cotangent, shape);
    summed(shape, output, |i, dtype| {
        let pairs = seen(a[i]).flat_map(|a| seen(b[i]).map(move |b| (a, b)));
        let pairs = pairs.flat_map(|(a, b)| seen(y[i]).map(move |y| [a, b, y].map(f64::from)));
        let all = pairs.flat_map(|abc| seen(g[i]).map(move |g| (abc, f64::from(g))));
        settle(
            dtype,
            all.map(|([a, b, y], g)| {
                let d = (part.oracle)(a, b, y);
                product(d, (part.bound)(a, b, d), g)
            }),
        )
    })
}

pub(crate) fn where_backward(
    condition: &HostTensor,
    cotangent: &HostTensor,
    holds: bool,
    output: &TensorSpec,
) -> Expected {
    let shape = cotangent.shape();
    let (taken, g) = (integers(condition, shape), floats(cotangent, shape));
    summed(shape, output, |i, dtype| {
        let wanted = (taken[i] != 0) == holds;
        let value = |g: f32| (if wanted { f64::from(g) } else { 0.0 }, 0.0);
        settle(dtype, seen(g[i]).map(value))
    })
}

/// A user's function of f32, i32 or u32 words, judged by how it answers to
/// inputs that are a few units in the last place off: WGSL leaves the accuracy
/// of what it is made of to the device. Results that are integers must match.
#[cfg(feature = "user-wgsl")]
pub(crate) fn map(
    inputs: &[&HostTensor],
    output: &TensorSpec,
    evaluate: impl Fn(&[HostTensor]) -> Result<HostTensor>,
) -> Result<Expected> {
    let wide = |t: &&HostTensor| match t.dtype().is_float() {
        true => HostTensor::from_f32(DType::F32, t.shape(), t.to_f32()),
        false => Ok((*t).clone()),
    };
    let exact: Vec<HostTensor> = inputs.iter().map(wide).collect::<Result<_>>()?;
    let result = evaluate(&exact)?;
    if !output.dtype.is_float() {
        return Ok(Expected::Exact(result));
    }
    let values = result.to_f64();
    let mut allowed: Vec<f64> = values.iter().map(|y| 16.0 * U * y.abs() + FLUSH).collect();
    for (k, input) in exact.iter().enumerate() {
        if !input.dtype().is_float() {
            continue;
        }
        for factor in [1.0 - 4.0 * U, 1.0 + 4.0 * U] {
            let moved = input
                .to_f32()
                .iter()
                .map(|&x| (x as f64 * factor) as f32)
                .collect();
            let mut inputs = exact.clone();
            inputs[k] = HostTensor::from_f32(DType::F32, input.shape(), moved)?;
            let other = evaluate(&inputs)?.to_f64();
            for ((allowed, y), other) in allowed.iter_mut().zip(&values).zip(other) {
                let distance = (other - y).abs();
                if !(other == *y || (other.is_nan() && y.is_nan())) {
                    *allowed += if distance.is_nan() {
                        f64::INFINITY
                    } else {
                        distance
                    };
                }
            }
        }
    }
    Ok(close(
        values
            .into_iter()
            .zip(allowed)
            .map(|judged| stored(output.dtype, judged)),
    ))
}
