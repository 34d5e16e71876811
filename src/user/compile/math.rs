//! The built-in functions.

use naga::{MathFunction, ScalarKind, TypeInner};

use super::super::scalar::{Binary, Ternary, Unary};
use super::{Compiler, Value};
use crate::error::Result;

impl Compiler<'_> {
    /// A call of a built-in function, whose first argument is of type `ty`.
    pub(super) fn math(
        &mut self,
        fun: MathFunction,
        ty: &TypeInner,
        arguments: &[Value],
    ) -> Result<Value> {
        use MathFunction as M;
        let kind = ty.scalar_kind().unwrap_or(ScalarKind::Float);
        match *arguments {
            [a] => {
                if let Some(op) = unary(fun, kind) {
                    return self.unary(op, a);
                }
                match fun {
                    // Unsigned numbers are their own absolute values.
                    M::Abs => Ok(a),
                    M::Modf => self.pair(Unary::ModfFract, Unary::Trunc, a),
                    M::Frexp => self.pair(Unary::FrexpFract, Unary::FrexpExp, a),
                    M::Length => self.length(a),
                    M::Normalize => {
                        let length = self.length(a)?;
                        self.binary(Binary::DivF, a, length)
                    }
                    M::Transpose => self.transpose(ty, a),
                    M::Determinant => self.determinant(ty, a),
                    _ => self.packing(fun, a),
                }
            }
            [a, b] => {
                if let Some(op) = binary(fun, kind) {
                    return self.binary(op, a, b);
                }
                match fun {
                    M::Dot if kind == ScalarKind::Float => {
                        self.dot(Binary::MulF, Binary::AddF, a, b)
                    }
                    M::Dot => self.dot(Binary::MulI, Binary::AddI, a, b),
                    M::Dot4I8Packed => self.dot_packed(a, b, true),
                    M::Dot4U8Packed => self.dot_packed(a, b, false),
                    M::Cross => self.cross(a, b),
                    M::Distance => {
                        let difference = self.binary(Binary::SubF, a, b)?;
                        self.length(difference)
                    }
                    M::Reflect => self.reflect(a, b),
                    _ => Err(self.unsupported("this function")),
                }
            }
            [a, b, c] => {
                if let Some(op) = ternary(fun, kind) {
                    return self.ternary(op, a, b, c);
                }
                match fun {
                    M::FaceForward => {
                        let dot = self.dot(Binary::MulF, Binary::AddF, b, c)?;
                        let zero = self.float(0.0)?;
                        let away = self.binary(Binary::LessF, dot, zero)?;
                        let turned = self.unary(Unary::NegF, a)?;
                        self.ternary(Ternary::Select, away, a, turned)
                    }
                    M::Refract => self.refract(a, b, c),
                    _ => Err(self.unsupported("this function")),
                }
            }
            [a, b, offset, count] if fun == M::InsertBits => {
                let mask = self.binary(Binary::FieldMask, offset, count)?;
                let bits = self.binary(Binary::Shl, b, offset)?;
                self.ternary(Ternary::Merge, a, bits, mask)
            }
            _ => Err(self.unsupported("this function")),
        }
    }

    /// The two members of the result of `modf` and `frexp`.
    fn pair(&mut self, first: Unary, second: Unary, value: Value) -> Result<Value> {
        let first = self.unary(first, value)?;
        let second = self.unary(second, value)?;
        self.gather(&[first, second])
    }

    fn cross(&mut self, a: Value, b: Value) -> Result<Value> {
        let mut parts = Vec::with_capacity(3);
        for i in 0..3u16 {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            let forward = self.binary(Binary::MulF, a.slice(j, 1), b.slice(k, 1))?;
            let backward = self.binary(Binary::MulF, a.slice(k, 1), b.slice(j, 1))?;
            parts.push(self.binary(Binary::SubF, forward, backward)?);
        }
        self.gather(&parts)
    }

    /// `a - 2 dot(b, a) b`
    fn reflect(&mut self, a: Value, b: Value) -> Result<Value> {
        let two = self.float(2.0)?;
        let dot = self.dot(Binary::MulF, Binary::AddF, b, a)?;
        let twice = self.binary(Binary::MulF, two, dot)?;
        let along = self.binary(Binary::MulF, b, twice)?;
        self.binary(Binary::SubF, a, along)
    }

    /// The ray `a` that meets a surface with normal `b`, beyond it, for a ratio
    /// `r` of the indices of refraction; 0 when it is reflected.
    fn refract(&mut self, a: Value, b: Value, r: Value) -> Result<Value> {
        let one = self.float(1.0)?;
        let zero = self.float(0.0)?;
        let dot = self.dot(Binary::MulF, Binary::AddF, b, a)?;
        let dot_squared = self.binary(Binary::MulF, dot, dot)?;
        let sine_squared = self.binary(Binary::SubF, one, dot_squared)?;
        let r_squared = self.binary(Binary::MulF, r, r)?;
        let bent = self.binary(Binary::MulF, r_squared, sine_squared)?;
        let k = self.binary(Binary::SubF, one, bent)?;
        let root = self.unary(Unary::Sqrt, k)?;
        let scaled_dot = self.binary(Binary::MulF, r, dot)?;
        let along_b = self.binary(Binary::AddF, scaled_dot, root)?;
        let part_a = self.binary(Binary::MulF, a, r)?;
        let part_b = self.binary(Binary::MulF, b, along_b)?;
        let refracted = self.binary(Binary::SubF, part_a, part_b)?;
        let reflected = self.binary(Binary::LessF, k, zero)?;
        self.ternary(Ternary::Select, reflected, zero, refracted)
    }

    fn packing(&mut self, fun: MathFunction, a: Value) -> Result<Value> {
        use MathFunction as M;
        match fun {
            M::Pack4x8snorm => {
                let parts = self.quantize(a, -1.0, 127.0)?;
                self.pack(parts, 8)
            }
            M::Pack4x8unorm => {
                let parts = self.quantize(a, 0.0, 255.0)?;
                self.pack(parts, 8)
            }
            M::Pack2x16snorm => {
                let parts = self.quantize(a, -1.0, 32767.0)?;
                self.pack(parts, 16)
            }
            M::Pack2x16unorm => {
                let parts = self.quantize(a, 0.0, 65535.0)?;
                self.pack(parts, 16)
            }
            M::Pack2x16float => {
                let parts = self.unary(Unary::FloatToHalf, a)?;
                self.pack(parts, 16)
            }
            M::Pack4xI8 | M::Pack4xU8 => self.pack(a, 8),
            M::Pack4xI8Clamp => {
                let low = self.uint(-128i32 as u32)?;
                let high = self.uint(127)?;
                let clamped = self.ternary(Ternary::ClampI, a, low, high)?;
                self.pack(clamped, 8)
            }
            M::Pack4xU8Clamp => {
                let high = self.uint(255)?;
                let clamped = self.binary(Binary::MinU, a, high)?;
                self.pack(clamped, 8)
            }
            M::Unpack4x8snorm => self.unpack_norm(a, 8, true),
            M::Unpack4x8unorm => self.unpack_norm(a, 8, false),
            M::Unpack2x16snorm => self.unpack_norm(a, 16, true),
            M::Unpack2x16unorm => self.unpack_norm(a, 16, false),
            M::Unpack2x16float => {
                let parts = self.unpack(a, 16, false)?;
                self.unary(Unary::HalfToFloat, parts)
            }
            M::Unpack4xI8 => self.unpack(a, 8, true),
            M::Unpack4xU8 => self.unpack(a, 8, false),
            _ => Err(self.unsupported("this function")),
        }
    }
}

/// The function by component of one argument that does it.
fn unary(fun: MathFunction, kind: ScalarKind) -> Option<Unary> {
    use MathFunction as M;
    Some(match fun {
        M::Abs => match kind {
            ScalarKind::Float => Unary::AbsF,
            ScalarKind::Sint => Unary::AbsI,
            _ => return None,
        },
        M::Sign => match kind {
            ScalarKind::Float => Unary::SignF,
            _ => Unary::SignI,
        },
        M::FirstLeadingBit => match kind {
            ScalarKind::Sint => Unary::FirstLeadingI,
            _ => Unary::FirstLeadingU,
        },
        M::Saturate => Unary::Saturate,
        M::Cos => Unary::Cos,
        M::Cosh => Unary::Cosh,
        M::Sin => Unary::Sin,
        M::Sinh => Unary::Sinh,
        M::Tan => Unary::Tan,
        M::Tanh => Unary::Tanh,
        M::Acos => Unary::Acos,
        M::Acosh => Unary::Acosh,
        M::Asin => Unary::Asin,
        M::Asinh => Unary::Asinh,
        M::Atan => Unary::Atan,
        M::Atanh => Unary::Atanh,
        M::Radians => Unary::Radians,
        M::Degrees => Unary::Degrees,
        M::Ceil => Unary::Ceil,
        M::Floor => Unary::Floor,
        M::Round => Unary::Round,
        M::Fract => Unary::Fract,
        M::Trunc => Unary::Trunc,
        M::Exp => Unary::Exp,
        M::Exp2 => Unary::Exp2,
        M::Log => Unary::Log,
        M::Log2 => Unary::Log2,
        M::Sqrt => Unary::Sqrt,
        M::InverseSqrt => Unary::InverseSqrt,
        M::QuantizeToF16 => Unary::QuantizeToF16,
        M::CountTrailingZeros => Unary::TrailingZeros,
        M::CountLeadingZeros => Unary::LeadingZeros,
        M::CountOneBits => Unary::OneBits,
        M::ReverseBits => Unary::ReverseBits,
        M::FirstTrailingBit => Unary::FirstTrailing,
        _ => return None,
    })
}

/// The function by component of two arguments that does it.
fn binary(fun: MathFunction, kind: ScalarKind) -> Option<Binary> {
    use MathFunction as M;
    Some(match (fun, kind) {
        (M::Min, ScalarKind::Float) => Binary::MinF,
        (M::Min, ScalarKind::Sint) => Binary::MinI,
        (M::Min, _) => Binary::MinU,
        (M::Max, ScalarKind::Float) => Binary::MaxF,
        (M::Max, ScalarKind::Sint) => Binary::MaxI,
        (M::Max, _) => Binary::MaxU,
        (M::Atan2, _) => Binary::Atan2,
        (M::Pow, _) => Binary::Pow,
        (M::Step, _) => Binary::Step,
        (M::Ldexp, _) => Binary::Ldexp,
        _ => return None,
    })
}

/// The function by component of three arguments that does it.
fn ternary(fun: MathFunction, kind: ScalarKind) -> Option<Ternary> {
    use MathFunction as M;
    Some(match (fun, kind) {
        (M::Clamp, ScalarKind::Float) => Ternary::ClampF,
        (M::Clamp, ScalarKind::Sint) => Ternary::ClampI,
        (M::Clamp, _) => Ternary::ClampU,
        (M::Fma, _) => Ternary::Fma,
        (M::Mix, _) => Ternary::Mix,
        (M::SmoothStep, _) => Ternary::SmoothStep,
        (M::ExtractBits, ScalarKind::Sint) => Ternary::ExtractI,
        (M::ExtractBits, _) => Ternary::ExtractU,
        _ => return None,
    })
}
