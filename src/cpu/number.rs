//! What elements are computed in, and how they are read from storage in blocks.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

/// Elements read at a time: they stay in the first-level cache.
pub(crate) const BLOCK: usize = 1024;

/// f32 (for f16 and bf16 too), i32 or u32.
pub(crate) trait Number: Copy + Default + PartialEq + Send + Sync + 'static {
    const ONE: Self;
    /// The keys of the smallest and the largest number.
    const KEYS: (i32, i32);
    /// Integers wrap.
    fn plus(self, other: Self) -> Self;
    /// Integers wrap.
    fn times(self, other: Self) -> Self;
    /// Orders as the numbers do, −0 below +0.
    fn key(self) -> i32;
    fn from_key(key: i32) -> Self;
    /// The key, the same for −0 and +0.
    fn ordinal(self) -> i32;
    fn is_nan(self) -> bool;
    fn to_f32(self) -> f32;
    /// For means and variances, which are of floats only.
    fn from_f32(value: f32) -> Self;
    /// The sum of at most [`BLOCK`] numbers.
    fn sum(values: &[Self]) -> Self;

    /// What running sums are kept in: f64 for f32, the same for integers.
    type Wide: Copy + Default + Send + Sync;
    fn widen(self) -> Self::Wide;
    fn wide_plus(a: Self::Wide, b: Self::Wide) -> Self::Wide;
    fn narrow(wide: Self::Wide) -> Self;
}

impl Number for f32 {
    const ONE: f32 = 1.0;
    const KEYS: (i32, i32) = (!0x7f80_0000, 0x7f80_0000);

    #[inline(always)]
    fn plus(self, other: f32) -> f32 {
        self + other
    }

    #[inline(always)]
    fn times(self, other: f32) -> f32 {
        self * other
    }

    #[inline(always)]
    fn key(self) -> i32 {
        let bits = self.to_bits() as i32;
        bits ^ (((bits >> 31) as u32) >> 1) as i32
    }

    fn from_key(key: i32) -> f32 {
        f32::from_bits((key ^ (((key >> 31) as u32) >> 1) as i32) as u32)
    }

    #[inline(always)]
    fn ordinal(self) -> i32 {
        // −0 + 0 is +0, and every other number is itself.
        (self + 0.0).key()
    }

    #[inline(always)]
    fn is_nan(self) -> bool {
        f32::is_nan(self)
    }

    #[inline(always)]
    fn to_f32(self) -> f32 {
        self
    }

    fn from_f32(value: f32) -> f32 {
        value
    }

    #[inline(always)]
    fn sum(values: &[f32]) -> f32 {
        crate::cpu::parallel::sum_block(values)
    }

    type Wide = f64;

    fn widen(self) -> f64 {
        self as f64
    }

    fn wide_plus(a: f64, b: f64) -> f64 {
        a + b
    }

    fn narrow(wide: f64) -> f32 {
        wide as f32
    }
}

macro_rules! integer {
    ($type:ty, $flip:expr) => {
        impl Number for $type {
            const ONE: $type = 1;
            const KEYS: (i32, i32) = (i32::MIN, i32::MAX);

            #[inline(always)]
            fn plus(self, other: $type) -> $type {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn times(self, other: $type) -> $type {
                self.wrapping_mul(other)
            }

            #[inline(always)]
            fn key(self) -> i32 {
                self as i32 ^ $flip
            }

            fn from_key(key: i32) -> $type {
                (key ^ $flip) as $type
            }

            #[inline(always)]
            fn ordinal(self) -> i32 {
                self.key()
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }

            #[inline(always)]
            fn to_f32(self) -> f32 {
                self as f32
            }

            fn from_f32(value: f32) -> $type {
                value as $type
            }

            #[inline(always)]
            fn sum(values: &[$type]) -> $type {
                values.iter().fold(0, |a, &b| a.wrapping_add(b))
            }

            type Wide = $type;

            fn widen(self) -> $type {
                self
            }

            fn wide_plus(a: $type, b: $type) -> $type {
                a.wrapping_add(b)
            }

            fn narrow(wide: $type) -> $type {
                wide
            }
        }
    };
}
integer!(i32, 0);
integer!(u32, i32::MIN);

/// Stored elements that are read as `N`s.
pub(crate) trait Stored<N>: Sync {
    /// The `count` ≤ [`BLOCK`] elements from `start`, in place where they are stored as `N`.
    fn block<'a>(&'a self, start: usize, count: usize, buffer: &'a mut [N; BLOCK]) -> &'a [N];
}

macro_rules! stored_as_is {
    ($($type:ty),*) => {$(
        impl Stored<$type> for [$type] {
            fn block<'a>(
                &'a self,
                start: usize,
                count: usize,
                _: &'a mut [$type; BLOCK],
            ) -> &'a [$type] {
                &self[start..start + count]
            }
        }
    )*};
}
stored_as_is!(f32, i32, u32);

macro_rules! stored_in_half {
    ($($type:ty),*) => {$(
        impl Stored<f32> for [$type] {
            fn block<'a>(
                &'a self,
                start: usize,
                count: usize,
                buffer: &'a mut [f32; BLOCK],
            ) -> &'a [f32] {
                self[start..start + count].convert_to_f32_slice(&mut buffer[..count]);
                &buffer[..count]
            }
        }
    )*};
}
stored_in_half!(f16, bf16);
