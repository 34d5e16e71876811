//! WGSL's operations on single words. Floats travel as their bits, `bool` as
//! 0 or 1.

use half::f16;

/// Functions of one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[rustfmt::skip]
pub(super) enum Unary {
    NegF, NegI, NotBits, NotBool,
    FloatToInt, FloatToUint, FloatToBool, IntToFloat, UintToFloat, IntToBool, BoolToFloat,
    FloatToHalf, HalfToFloat, QuantizeToF16,
    AbsF, AbsI, SignF, SignI, Saturate,
    Cos, Cosh, Sin, Sinh, Tan, Tanh, Acos, Acosh, Asin, Asinh, Atan, Atanh, Radians, Degrees,
    Ceil, Floor, Round, Fract, Trunc, ModfFract, FrexpFract, FrexpExp,
    Exp, Exp2, Log, Log2, Sqrt, InverseSqrt,
    TrailingZeros, LeadingZeros, OneBits, ReverseBits, FirstTrailing, FirstLeadingI, FirstLeadingU,
}

/// Functions of two words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[rustfmt::skip]
pub(super) enum Binary {
    AddF, SubF, MulF, DivF, RemF,
    AddI, SubI, MulI, DivI, DivU, RemI, RemU,
    And, Or, Xor, Shl, ShrI, ShrU,
    Equal, NotEqual, EqualF, NotEqualF,
    LessF, LessEqualF, LessI, LessEqualI, LessU, LessEqualU,
    MinF, MaxF, MinI, MaxI, MinU, MaxU,
    Atan2, Pow, Step, Ldexp,
    /// The bits of a field of `b` bits from bit `a`.
    FieldMask,
}

/// Functions of three words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[rustfmt::skip]
pub(super) enum Ternary {
    /// `a ? b : c`.
    Select,
    Fma, ClampF, ClampI, ClampU, Mix, SmoothStep,
    ExtractI, ExtractU,
    /// `b` where the mask `c` has ones, `a` elsewhere.
    Merge,
}

fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

impl Unary {
    #[inline]
    pub fn apply(self, a: u32) -> u32 {
        match self {
            Unary::NegF => (-f(a)).to_bits(),
            Unary::NegI => a.wrapping_neg(),
            Unary::NotBits => !a,
            Unary::NotBool => (a == 0) as u32,
            // WGSL rounds towards zero, to the nearest integer that the float
            // type also has.
            Unary::FloatToInt => f(a).min(2147483520.0) as i32 as u32 & not_nan(a),
            Unary::FloatToUint => f(a).min(4294967040.0) as u32 & not_nan(a),
            Unary::FloatToBool => (f(a) != 0.0) as u32,
            Unary::IntToFloat => (a as i32 as f32).to_bits(),
            Unary::UintToFloat => (a as f32).to_bits(),
            Unary::IntToBool => (a != 0) as u32,
            Unary::BoolToFloat => ((a != 0) as u32 as f32).to_bits(),
            Unary::FloatToHalf => f16::from_f32(f(a)).to_bits() as u32,
            Unary::HalfToFloat => f16::from_bits(a as u16).to_f32().to_bits(),
            Unary::QuantizeToF16 => f16::from_f32(f(a)).to_f32().to_bits(),
            Unary::AbsF => f(a).abs().to_bits(),
            Unary::AbsI => (a as i32).wrapping_abs() as u32,
            Unary::SignF => sign(f(a)).to_bits(),
            Unary::SignI => (a as i32).signum() as u32,
            Unary::Saturate => f(a).clamp(0.0, 1.0).to_bits(),
            Unary::Cos => f(a).cos().to_bits(),
            Unary::Cosh => f(a).cosh().to_bits(),
            Unary::Sin => f(a).sin().to_bits(),
            Unary::Sinh => f(a).sinh().to_bits(),
            Unary::Tan => f(a).tan().to_bits(),
            Unary::Tanh => f(a).tanh().to_bits(),
            Unary::Acos => f(a).acos().to_bits(),
            Unary::Acosh => f(a).acosh().to_bits(),
            Unary::Asin => f(a).asin().to_bits(),
            Unary::Asinh => f(a).asinh().to_bits(),
            Unary::Atan => f(a).atan().to_bits(),
            Unary::Atanh => f(a).atanh().to_bits(),
            Unary::Radians => f(a).to_radians().to_bits(),
            Unary::Degrees => f(a).to_degrees().to_bits(),
            Unary::Ceil => f(a).ceil().to_bits(),
            Unary::Floor => f(a).floor().to_bits(),
            Unary::Round => f(a).round_ties_even().to_bits(),
            Unary::Fract => (f(a) - f(a).floor()).to_bits(),
            Unary::Trunc => f(a).trunc().to_bits(),
            Unary::ModfFract => modf_fract(f(a)).to_bits(),
            Unary::FrexpFract => frexp(f(a)).0.to_bits(),
            Unary::FrexpExp => frexp(f(a)).1 as u32,
            Unary::Exp => f(a).exp().to_bits(),
            Unary::Exp2 => f(a).exp2().to_bits(),
            Unary::Log => f(a).ln().to_bits(),
            Unary::Log2 => f(a).log2().to_bits(),
            Unary::Sqrt => f(a).sqrt().to_bits(),
            Unary::InverseSqrt => (1.0 / f(a).sqrt()).to_bits(),
            Unary::TrailingZeros => a.trailing_zeros(),
            Unary::LeadingZeros => a.leading_zeros(),
            Unary::OneBits => a.count_ones(),
            Unary::ReverseBits => a.reverse_bits(),
            Unary::FirstTrailing => match a {
                0 => u32::MAX,
                _ => a.trailing_zeros(),
            },
            // The highest bit that differs from the sign.
            Unary::FirstLeadingI => {
                31u32.wrapping_sub((a ^ (a as i32 >> 31) as u32).leading_zeros())
            }
            Unary::FirstLeadingU => 31u32.wrapping_sub(a.leading_zeros()),
        }
    }
}

impl Binary {
    #[inline]
    pub fn apply(self, a: u32, b: u32) -> u32 {
        match self {
            Binary::AddF => (f(a) + f(b)).to_bits(),
            Binary::SubF => (f(a) - f(b)).to_bits(),
            Binary::MulF => (f(a) * f(b)).to_bits(),
            Binary::DivF => (f(a) / f(b)).to_bits(),
            Binary::RemF => (f(a) % f(b)).to_bits(),
            Binary::AddI => a.wrapping_add(b),
            Binary::SubI => a.wrapping_sub(b),
            Binary::MulI => a.wrapping_mul(b),
            Binary::DivI => match b {
                0 => a,
                _ => (a as i32).wrapping_div(b as i32) as u32,
            },
            Binary::DivU => a.checked_div(b).unwrap_or(a),
            Binary::RemI => match b {
                0 => 0,
                _ => (a as i32).wrapping_rem(b as i32) as u32,
            },
            Binary::RemU => a.checked_rem(b).unwrap_or(0),
            Binary::And => a & b,
            Binary::Or => a | b,
            Binary::Xor => a ^ b,
            Binary::Shl => a.wrapping_shl(b),
            Binary::ShrI => (a as i32).wrapping_shr(b) as u32,
            Binary::ShrU => a.wrapping_shr(b),
            Binary::Equal => (a == b) as u32,
            Binary::NotEqual => (a != b) as u32,
            Binary::EqualF => (f(a) == f(b)) as u32,
            Binary::NotEqualF => (f(a) != f(b)) as u32,
            Binary::LessF => (f(a) < f(b)) as u32,
            Binary::LessEqualF => (f(a) <= f(b)) as u32,
            Binary::LessI => ((a as i32) < b as i32) as u32,
            Binary::LessEqualI => (a as i32 <= b as i32) as u32,
            Binary::LessU => (a < b) as u32,
            Binary::LessEqualU => (a <= b) as u32,
            Binary::MinF => f(a).min(f(b)).to_bits(),
            Binary::MaxF => f(a).max(f(b)).to_bits(),
            Binary::MinI => (a as i32).min(b as i32) as u32,
            Binary::MaxI => (a as i32).max(b as i32) as u32,
            Binary::MinU => a.min(b),
            Binary::MaxU => a.max(b),
            Binary::Atan2 => f(a).atan2(f(b)).to_bits(),
            Binary::Pow => f(a).powf(f(b)).to_bits(),
            Binary::Step => ((f(a) <= f(b)) as u32 as f32).to_bits(),
            Binary::Ldexp => ldexp(f(a), b as i32).to_bits(),
            Binary::FieldMask => {
                let (offset, count) = field(a, b);
                ones(count).checked_shl(offset).unwrap_or(0)
            }
        }
    }
}

impl Ternary {
    #[inline]
    pub fn apply(self, a: u32, b: u32, c: u32) -> u32 {
        match self {
            Ternary::Select => {
                if a != 0 {
                    b
                } else {
                    c
                }
            }
            Ternary::Fma => f(a).mul_add(f(b), f(c)).to_bits(),
            Ternary::ClampF => f(a).max(f(b)).min(f(c)).to_bits(),
            Ternary::ClampI => (a as i32).max(b as i32).min(c as i32) as u32,
            Ternary::ClampU => a.max(b).min(c),
            Ternary::Mix => (f(a) * (1.0 - f(c)) + f(b) * f(c)).to_bits(),
            Ternary::SmoothStep => {
                let t = ((f(c) - f(a)) / (f(b) - f(a))).clamp(0.0, 1.0);
                (t * t * (3.0 - 2.0 * t)).to_bits()
            }
            Ternary::ExtractI => match field(b, c) {
                (_, 0) => 0,
                (offset, count) => {
                    let top = a << (32 - offset - count);
                    (top as i32 >> (32 - count)) as u32
                }
            },
            Ternary::ExtractU => match field(b, c) {
                (_, 0) => 0,
                (offset, count) => (a >> offset) & ones(count),
            },
            Ternary::Merge => (a & !c) | (b & c),
        }
    }
}

/// All ones, or zero for the bits of a NaN, which converts to 0.
fn not_nan(bits: u32) -> u32 {
    (!f(bits).is_nan() as u32).wrapping_neg()
}

fn sign(x: f32) -> f32 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        0.0
    }
}

/// The fractional part, with the sign of `x`; 0 for infinities.
fn modf_fract(x: f32) -> f32 {
    if x.is_infinite() {
        0.0f32.copysign(x)
    } else {
        (x - x.trunc()).copysign(x)
    }
}

/// `x` as a fraction in [0.5, 1) and a power of two.
fn frexp(x: f32) -> (f32, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    // Every finite f32 is a normal f64, whose exponent can be read off.
    let bits = (x as f64).to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1022;
    let fraction = f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52);
    (fraction as f32, exponent)
}

/// `x` times 2 to the power `exponent`, rounded once.
fn ldexp(x: f32, exponent: i32) -> f32 {
    // Beyond these every f32 over- or underflows; within them the product is
    // exact in f64.
    let exponent = exponent.clamp(-400, 400);
    (x as f64 * 2f64.powi(exponent)) as f32
}

/// Offset and count of a field of bits, cut to fit a word.
fn field(offset: u32, count: u32) -> (u32, u32) {
    let offset = offset.min(32);
    (offset, count.min(32 - offset))
}

/// The lowest `count` bits.
fn ones(count: u32) -> u32 {
    1u32.checked_shl(count).unwrap_or(0).wrapping_sub(1)
}
