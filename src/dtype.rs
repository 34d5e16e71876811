//! Element types and their typed edges.

use half::{bf16, f16};

/// How the elements of a tensor are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are the field's own")]
pub enum DType {
    F32,
    F16,
    BF16,
    I32,
    U32,
}

impl DType {
    /// Every dtype.
    pub const ALL: &'static [DType] =
        &[DType::F32, DType::F16, DType::BF16, DType::I32, DType::U32];
    /// The floating-point dtypes.
    pub const FLOATS: &'static [DType] = &[DType::F32, DType::F16, DType::BF16];

    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            DType::F16 | DType::BF16 => 2,
            _ => 4,
        }
    }

    /// Whether elements are floating-point numbers.
    pub const fn is_float(self) -> bool {
        matches!(self, DType::F32 | DType::F16 | DType::BF16)
    }

    /// The name used on the command line, in files and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            DType::F32 => "f32",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::I32 => "i32",
            DType::U32 => "u32",
        }
    }

    /// Unit roundoff: half the gap between 1 and the next number. 0 for integers.
    pub const fn unit_roundoff(self) -> f64 {
        match self {
            DType::F32 => 5.960464477539063e-8,
            DType::F16 => 4.8828125e-4,
            DType::BF16 => 3.90625e-3,
            _ => 0.0,
        }
    }

    /// The dtype of this name, if there is one.
    pub fn parse(name: &str) -> Option<DType> {
        DType::ALL
            .iter()
            .copied()
            .find(|dtype| dtype.name() == name)
    }
}

impl std::fmt::Display for DType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A Rust type that is the element of a [`DType`].
pub trait Element: bytemuck::Pod + Send + Sync + PartialEq + std::fmt::Debug {
    /// The dtype whose elements this type is.
    const DTYPE: DType;
    /// Widens to `f64`, exactly.
    fn to_f64(self) -> f64;
    /// Rounds from `f64` (to nearest even; integers saturate, NaN becomes 0).
    fn from_f64(value: f64) -> Self;
}

macro_rules! element {
    ($type:ty, $dtype:ident, $to:expr, $from:expr) => {
        impl Element for $type {
            const DTYPE: DType = DType::$dtype;
            fn to_f64(self) -> f64 {
                $to(self)
            }
            fn from_f64(value: f64) -> Self {
                $from(value)
            }
        }
    };
}
element!(f32, F32, |v| v as f64, |v| v as f32);
element!(f16, F16, f16::to_f64, f16::from_f64);
element!(bf16, BF16, bf16::to_f64, bf16::from_f64);
element!(i32, I32, |v| v as f64, |v| v as i32);
element!(u32, U32, |v| v as f64, |v| v as u32);
