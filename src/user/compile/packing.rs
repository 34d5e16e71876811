//! Numbers of 8 and 16 bits in one word, from the low bits up.

use super::super::scalar::{Binary, Ternary, Unary};
use super::{Compiler, Value};
use crate::error::Result;

impl Compiler<'_> {
    /// Rounds floats that are clamped to [`low`, 1] to `scale` steps.
    pub(super) fn quantize(&mut self, values: Value, low: f32, scale: f32) -> Result<Value> {
        let low_end = self.float(low)?;
        let one = self.float(1.0)?;
        let scale = self.float(scale)?;
        let half = self.float(0.5)?;
        let clamped = self.ternary(Ternary::ClampF, values, low_end, one)?;
        let scaled = self.binary(Binary::MulF, clamped, scale)?;
        let shifted = self.binary(Binary::AddF, scaled, half)?;
        let rounded = self.unary(Unary::Floor, shifted)?;
        // The bits of a small negative number are the low bits of its word.
        self.unary(Unary::FloatToInt, rounded)
    }

    /// The low `bits` of each component, in one word.
    pub(super) fn pack(&mut self, values: Value, bits: u32) -> Result<Value> {
        let mask = self.uint((1 << bits) - 1)?;
        let masked = self.binary(Binary::And, values, mask)?;
        let mut word = masked.slice(0, 1);
        for i in 1..values.words {
            let shift = self.uint(bits * i as u32)?;
            let shifted = self.binary(Binary::Shl, masked.slice(i, 1), shift)?;
            word = self.binary(Binary::Or, word, shifted)?;
        }
        Ok(word)
    }

    /// The parts of a word of `bits` each, with their sign or without.
    pub(super) fn unpack(&mut self, word: Value, bits: u32, signed: bool) -> Result<Value> {
        let extract = if signed {
            Ternary::ExtractI
        } else {
            Ternary::ExtractU
        };
        let count = self.uint(bits)?;
        let parts = (0..32 / bits)
            .map(|i| {
                let offset = self.uint(bits * i)?;
                self.ternary(extract, word, offset, count)
            })
            .collect::<Result<Vec<_>>>()?;
        self.gather(&parts)
    }

    /// Floats in [-1, 1] or [0, 1] from the parts of a word.
    pub(super) fn unpack_norm(&mut self, word: Value, bits: u32, signed: bool) -> Result<Value> {
        let parts = self.unpack(word, bits, signed)?;
        if signed {
            let scale = self.float(((1u32 << (bits - 1)) - 1) as f32)?;
            let low = self.float(-1.0)?;
            let floats = self.unary(Unary::IntToFloat, parts)?;
            let scaled = self.binary(Binary::DivF, floats, scale)?;
            self.binary(Binary::MaxF, scaled, low)
        } else {
            let scale = self.float(((1u32 << bits) - 1) as f32)?;
            let floats = self.unary(Unary::UintToFloat, parts)?;
            self.binary(Binary::DivF, floats, scale)
        }
    }

    /// The dot product of the four 8-bit parts of two words.
    pub(super) fn dot_packed(&mut self, a: Value, b: Value, signed: bool) -> Result<Value> {
        let a = self.unpack(a, 8, signed)?;
        let b = self.unpack(b, 8, signed)?;
        self.dot(Binary::MulI, Binary::AddI, a, b)
    }
}
