//! Every scalar operation, once: its name binds the WGSL function
//! (`f_NAME`, `i_NAME`, `u_NAME` in `shaders/op/math.wgsl`), the CPU twin, the
//! f64 oracle and the bound.

use crate::cpu::math::{self as cpu, derivative as cpu_derivative, integer};
use crate::gate::oracle::bounds::{self, derivative as bounds_derivative};
use crate::gate::oracle::math::{self as oracle, derivative as oracle_derivative};

/// An operation on one number.
#[derive(Debug)]
pub struct UnaryMath {
    /// The name; in WGSL `f_NAME(x, parameters…)`.
    pub name: &'static str,
    /// What it computes, in a line.
    pub doc: &'static str,
    /// The CPU twin, of a number and the parameters (unused ones are ignored).
    pub cpu: fn(f32, [f32; 2]) -> f32,
    /// The CPU twin over slices of equal length: input, parameters, output.
    pub cpu_map: fn(&[f32], [f32; 2], &mut [f32]),
    /// The f64 oracle.
    pub oracle: fn(f64, [f64; 2]) -> f64,
    /// The allowed absolute error in f32, by the input, the exact output and
    /// the parameters.
    pub bound: fn(f64, f64, [f64; 2]) -> f64,
    /// Names and defaults of the parameters, at most two.
    pub params: &'static [(&'static str, f64)],
    /// The derivative; in WGSL `f_NAME_derivative(x, y, parameters…)`.
    pub derivative: Derivative,
    /// The twins on integers, if it is defined there.
    pub integer: Option<IntegerUnary>,
    /// Where random inputs are drawn from.
    pub domain: (f64, f64),
}

/// The derivative of an operation on one number, by the input, the output and
/// the parameters.
#[derive(Debug)]
pub struct Derivative {
    /// The CPU twin.
    pub cpu: fn(f32, f32, [f32; 2]) -> f32,
    /// The f64 oracle.
    pub oracle: fn(f64, f64, [f64; 2]) -> f64,
    /// The allowed absolute error, by the input, the exact derivative and the
    /// parameters.
    pub bound: fn(f64, f64, [f64; 2]) -> f64,
    /// What of input and output it reads.
    pub uses: Uses,
}

/// What a derivative reads; the other argument may be anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uses {
    /// The input or inputs.
    pub input: bool,
    /// The output.
    pub output: bool,
}

/// The integer twins of an operation on one number.
#[derive(Debug, Clone, Copy)]
pub struct IntegerUnary {
    /// In WGSL `i_NAME`.
    pub cpu_i32: fn(i32, [i32; 2]) -> i32,
    /// In WGSL `u_NAME`.
    pub cpu_u32: fn(u32, [u32; 2]) -> u32,
}

/// An operation on two numbers.
#[derive(Debug)]
pub struct BinaryMath {
    /// The name; in WGSL `f_NAME(a, b)`.
    pub name: &'static str,
    /// What it computes, in a line.
    pub doc: &'static str,
    /// The CPU twin. A comparison gives 1 or 0 (in WGSL a `u32`).
    pub cpu: fn(f32, f32) -> f32,
    /// The CPU twin over slices of equal length.
    pub cpu_zip: fn(&[f32], &[f32], &mut [f32]),
    /// The f64 oracle.
    pub oracle: fn(f64, f64) -> f64,
    /// The allowed absolute error in f32, by the inputs and the exact output.
    pub bound: fn(f64, f64, f64) -> f64,
    /// The derivatives, `f_NAME_derivative_a(a, b, y)` and `…_b` in WGSL; none
    /// of a comparison.
    pub derivative: Option<BinaryDerivative>,
    /// The twins on integers.
    pub integer: IntegerBinary,
    /// Whether it is a comparison.
    pub comparison: bool,
    /// Where random inputs are drawn from, `a` and `b`.
    pub domain: [(f64, f64); 2],
}

/// The derivatives of an operation on two numbers.
#[derive(Debug)]
pub struct BinaryDerivative {
    /// By the first operand.
    pub a: BinaryDerivativePart,
    /// By the second operand.
    pub b: BinaryDerivativePart,
}

/// One of them, by both inputs and the output.
#[derive(Debug)]
pub struct BinaryDerivativePart {
    /// The CPU twin.
    pub cpu: fn(f32, f32, f32) -> f32,
    /// The f64 oracle.
    pub oracle: fn(f64, f64, f64) -> f64,
    /// The allowed absolute error, by the inputs and the exact derivative.
    pub bound: fn(f64, f64, f64) -> f64,
    /// What of inputs and output it reads.
    pub uses: Uses,
}

/// The integer twins of an operation on two numbers. A comparison gives 1 or 0
/// (in WGSL always a `u32`).
#[derive(Debug, Clone, Copy)]
pub struct IntegerBinary {
    /// In WGSL `i_NAME`.
    pub cpu_i32: fn(i32, i32) -> i32,
    /// In WGSL `u_NAME`.
    pub cpu_u32: fn(u32, u32) -> u32,
}

/// An operation that integers alone have.
#[derive(Debug)]
pub struct IntegerMath<Twins: 'static> {
    /// The name; in WGSL `i_NAME` and `u_NAME`.
    pub name: &'static str,
    /// What it computes, in a line.
    pub doc: &'static str,
    /// The CPU twins.
    pub integer: Twins,
}

macro_rules! call {
    ($function:path, $x:expr, $p:ident) => {
        $function($x)
    };
    ($function:path, $x:expr, $p:ident, $one:ident) => {
        $function($x, $p[0])
    };
    ($function:path, $x:expr, $p:ident, $one:ident, $two:ident) => {
        $function($x, $p[0], $p[1])
    };
}

macro_rules! integer_unary {
    ($name:ident [$($param:ident)*]) => {
        None
    };
    ($name:ident [$($param:ident)*] integer) => {
        Some(IntegerUnary {
            cpu_i32: |x, _p| call!(integer::signed::$name, x, _p $(, $param)*),
            cpu_u32: |x, _p| call!(integer::unsigned::$name, x, _p $(, $param)*),
        })
    };
}

macro_rules! uses {
    (x) => {
        uses!(true, false)
    };
    (y) => {
        uses!(false, true)
    };
    (xy) => {
        uses!(true, true)
    };
    (none) => {
        uses!(false, false)
    };
    ($input:literal, $output:literal) => {
        Uses {
            input: $input,
            output: $output,
        }
    };
}

macro_rules! unary {
    ($($name:ident [$($param:ident = $default:literal),*] $uses:ident, $low:literal .. $high:literal, $doc:literal $(, $integer:ident)?;)*) => {
        &[$(UnaryMath {
            name: stringify!($name),
            doc: $doc,
            cpu: |x, _p| call!(cpu::$name, x, _p $(, $param)*),
            cpu_map: |input, _p, output| {
                for (y, x) in output.iter_mut().zip(input) {
                    *y = call!(cpu::$name, *x, _p $(, $param)*);
                }
            },
            oracle: |x, _p| call!(oracle::$name, x, _p $(, $param)*),
            bound: bounds::$name,
            params: &[$((stringify!($param), $default)),*],
            derivative: Derivative {
                cpu: cpu_derivative::$name,
                oracle: oracle_derivative::$name,
                bound: bounds_derivative::$name,
                uses: uses!($uses),
            },
            integer: integer_unary!($name [$($param)*] $($integer)?),
            domain: ($low, $high),
        },)*]
    };
}

/// The rows of [`UNARY`], handed to a macro.
#[rustfmt::skip]
macro_rules! each_unary {
    ($then:ident) => {
        $then! {
            relu [] x, -100.0 .. 100.0, "max(x, 0)";
            gelu_erf [] x, -14.0 .. 14.0, "x Φ(x), Φ the normal distribution";
            gelu_tanh [] x, -14.0 .. 14.0, "0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³)))";
            silu [] x, -90.0 .. 90.0, "x / (1 + e^−x)";
            sigmoid [] y, -90.0 .. 90.0, "1 / (1 + e^−x)";
            tanh [] y, -10.0 .. 10.0, "hyperbolic tangent";
            softplus [beta = 1.0, threshold = 20.0] x, -90.0 .. 90.0, "log(1 + e^βx)/β; x where βx > threshold";
            exp [] y, -87.0 .. 88.0, "e^x";
            exp2 [] y, -126.0 .. 127.0, "2^x";
            expm1 [] x, -20.0 .. 88.0, "e^x − 1, accurate near 0";
            log [] x, 1e-30 .. 1e30, "natural logarithm";
            log2 [] x, 1e-30 .. 1e30, "logarithm to base 2";
            log1p [] x, -1.0 .. 1e3, "log(1 + x), accurate near 0";
            elu [alpha = 1.0] x, -90.0 .. 90.0, "x above 0, α(e^x − 1) below";
            erf [] x, -4.0 .. 4.0, "error function";
            sin [] x, -1e4 .. 1e4, "sine of x radians, for every finite x";
            cos [] x, -1e4 .. 1e4, "cosine of x radians, for every finite x";
            tan [] y, -1e4 .. 1e4, "tangent of x radians, for every finite x";
            sqrt [] y, 0.0 .. 1e30, "square root";
            rsqrt [] y, 1e-30 .. 1e30, "1/√x";
            reciprocal [] y, -1e3 .. 1e3, "1/x";
            neg [] none, -1e6 .. 1e6, "−x", integer;
            abs [] x, -1e6 .. 1e6, "|x|", integer;
            sign [] none, -1e6 .. 1e6, "−1, 0 or 1", integer;
            floor [] none, -1e6 .. 1e6, "rounded down";
            ceil [] none, -1e6 .. 1e6, "rounded up";
            round [] none, -1e6 .. 1e6, "rounded to nearest, ties to even";
            trunc [] none, -1e6 .. 1e6, "rounded towards zero";
            square [] x, -1e6 .. 1e6, "x²", integer;
            clamp [low = 0.0, high = 1.0] x, -2.0 .. 2.0, "min(max(x, low), high)", integer;
        }
    };
}
pub(crate) use each_unary;

/// Every operation on one number.
pub static UNARY: &[UnaryMath] = each_unary!(unary);

macro_rules! binary_derivative {
    () => {
        None
    };
    ($name_a:ident $name_b:ident $uses_a:ident $uses_b:ident) => {
        Some(BinaryDerivative {
            a: BinaryDerivativePart {
                cpu: cpu_derivative::$name_a,
                oracle: oracle_derivative::$name_a,
                bound: bounds_derivative::$name_a,
                uses: uses!($uses_a),
            },
            b: BinaryDerivativePart {
                cpu: cpu_derivative::$name_b,
                oracle: oracle_derivative::$name_b,
                bound: bounds_derivative::$name_b,
                uses: uses!($uses_b),
            },
        })
    };
}

macro_rules! binary {
    ($($name:ident [$($derivative:ident)*], $low:literal .. $high:literal, $low_b:literal .. $high_b:literal, $doc:literal, $comparison:literal;)*) => {
        &[$(BinaryMath {
            name: stringify!($name),
            doc: $doc,
            cpu: cpu::$name,
            cpu_zip: |a, b, output| {
                for ((y, a), b) in output.iter_mut().zip(a).zip(b) {
                    *y = cpu::$name(*a, *b);
                }
            },
            oracle: oracle::$name,
            bound: bounds::$name,
            derivative: binary_derivative!($($derivative)*),
            integer: IntegerBinary {
                cpu_i32: integer::signed::$name,
                cpu_u32: integer::unsigned::$name,
            },
            comparison: $comparison,
            domain: [($low, $high), ($low_b, $high_b)],
        },)*]
    };
}

/// The rows of [`BINARY`], handed to a macro.
#[rustfmt::skip]
macro_rules! each_binary {
    ($then:ident) => {
        $then! {
            add [add_a add_b none none], -1e6 .. 1e6, -1e6 .. 1e6, "a + b", false;
            sub [sub_a sub_b none none], -1e6 .. 1e6, -1e6 .. 1e6, "a − b", false;
            mul [mul_a mul_b x x], -1e6 .. 1e6, -1e6 .. 1e6, "a · b", false;
            div [div_a div_b x xy], -1e6 .. 1e6, -1e3 .. 1e3, "a / b", false;
            rem [rem_a rem_b none xy], -1e6 .. 1e6, -1e3 .. 1e3, "remainder with the dividend's sign, exact", false;
            min [min_a min_b x x], -1e6 .. 1e6, -1e6 .. 1e6, "the smaller; NaN spreads", false;
            max [max_a max_b x x], -1e6 .. 1e6, -1e6 .. 1e6, "the larger; NaN spreads", false;
            pow [pow_a pow_b x xy], 1e-3 .. 1e3, -10.0 .. 10.0, "a^b; for a < 0 at whole b, else NaN", false;
            eq [], -2.0 .. 2.0, -2.0 .. 2.0, "a = b", true;
            ne [], -2.0 .. 2.0, -2.0 .. 2.0, "a ≠ b; true of NaN", true;
            lt [], -2.0 .. 2.0, -2.0 .. 2.0, "a < b", true;
            le [], -2.0 .. 2.0, -2.0 .. 2.0, "a ≤ b", true;
            gt [], -2.0 .. 2.0, -2.0 .. 2.0, "a > b", true;
            ge [], -2.0 .. 2.0, -2.0 .. 2.0, "a ≥ b", true;
        }
    };
}
pub(crate) use each_binary;

/// Every operation on two numbers.
/// Every operation on two numbers.
pub static BINARY: &[BinaryMath] = each_binary!(binary);

macro_rules! integer_unary_only {
    ($($name:ident, $doc:literal;)*) => {
        &[$(IntegerMath {
            name: stringify!($name),
            doc: $doc,
            integer: IntegerUnary {
                cpu_i32: |x, _| integer::signed::$name(x),
                cpu_u32: |x, _| integer::unsigned::$name(x),
            },
        },)*]
    };
}

/// The rows of [`INTEGER_UNARY`], handed to a macro.
#[rustfmt::skip]
macro_rules! each_integer_unary {
    ($then:ident) => {
        $then! {
            bit_not, "every bit flipped";
        }
    };
}
pub(crate) use each_integer_unary;

/// Operations on one integer that floats lack.
pub static INTEGER_UNARY: &[IntegerMath<IntegerUnary>] = each_integer_unary!(integer_unary_only);

macro_rules! integer_binary {
    ($($name:ident, $doc:literal;)*) => {
        &[$(IntegerMath {
            name: stringify!($name),
            doc: $doc,
            integer: IntegerBinary {
                cpu_i32: integer::signed::$name,
                cpu_u32: integer::unsigned::$name,
            },
        },)*]
    };
}

/// The rows of [`INTEGER_BINARY`], handed to a macro.
#[rustfmt::skip]
macro_rules! each_integer_binary {
    ($then:ident) => {
        $then! {
            bit_and, "bits set in both";
            bit_or, "bits set in either";
            bit_xor, "bits set in one";
            shift_left, "a · 2^(b mod 32), wrapping";
            shift_right, "a shifted right by b mod 32; the sign moves in";
        }
    };
}
pub(crate) use each_integer_binary;

/// Operations on two integers that floats lack.
pub static INTEGER_BINARY: &[IntegerMath<IntegerBinary>] = each_integer_binary!(integer_binary);

/// The operation on one number of this name.
pub fn unary(name: &str) -> Option<&'static UnaryMath> {
    UNARY.iter().find(|op| op.name == name)
}

/// The operation on two numbers of this name.
pub fn binary(name: &str) -> Option<&'static BinaryMath> {
    BINARY.iter().find(|op| op.name == name)
}
