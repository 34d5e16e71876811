//! Elementwise operations in f64 and exact integers, and how far off a kernel
//! may be: its bound in f32, taken over all that a device which flushes
//! subnormal inputs may have seen, and the rounding of the store.

use half::{bf16, f16};

use crate::cpu::elementwise::Operand;
use crate::dtype::DType;
use crate::gate::Expected;
use crate::gate::oracle::bounds::seen;
use crate::host::HostTensor;
use crate::kernels::math_table::{BinaryMath, UnaryMath};
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
    close(floats(x, x.shape()).into_iter().map(|x| {
        settle(
            dtype,
            seen(x).map(|x| {
                let y = (math.oracle)(x.into(), p);
                (y, (math.bound)(x.into(), y, p))
            }),
        )
    }))
}

pub(crate) fn binary(
    math: &BinaryMath,
    a: &HostTensor,
    b: &HostTensor,
    output: &TensorSpec,
) -> Expected {
    let (a, b) = (floats(a, &output.shape), floats(b, &output.shape));
    close(a.into_iter().zip(b).map(|(a, b)| {
        let pairs = seen(a).flat_map(|a| seen(b).map(move |b| (f64::from(a), f64::from(b))));
        settle(
            output.dtype,
            pairs.map(|(a, b)| {
                let y = (math.oracle)(a, b);
                (y, (math.bound)(a, b, y))
            }),
        )
    }))
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
