//! Reproducible contents of test tensors.

use crate::cpu::parallel;
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::host::HostTensor;

/// What a test tensor holds. The same fill, seed and size give the same numbers everywhere.
#[derive(Debug, Clone, PartialEq)]
pub enum Fill {
    /// Normally distributed.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        deviation: f64,
    },
    /// Uniformly distributed.
    Uniform {
        /// At least.
        low: f64,
        /// Below.
        high: f64,
    },
    /// Whole numbers, each as likely: sums of them stay exact.
    Integers {
        /// At least.
        low: i64,
        /// At most.
        high: i64,
    },
    /// Any bits at all: for floats with NaNs, infinities and subnormals.
    Bits,
    /// One number.
    Constant(f64),
    /// These numbers, over and over.
    Cycle(Vec<f64>),
    /// These stored bits, over and over.
    CycleBits(Vec<u32>),
    /// first, first + step, …
    Ramp {
        /// The first number.
        first: f64,
        /// The difference.
        step: f64,
    },
    /// Magnitudes spread evenly over powers of ten, with either sign.
    Magnitudes {
        /// The lowest power of ten.
        low: f64,
        /// The highest power of ten.
        high: f64,
    },
    /// 1 with this probability, else 0.
    Mask(f64),
}

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
/// generators, 2014): one 64-bit number per index, in any order.
pub(crate) fn random(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn unit(seed: u64, index: u64) -> f64 {
    (random(seed, index) >> 11) as f64 / (1u64 << 53) as f64
}

impl Fill {
    /// A standard normal fill.
    pub const NORMAL: Fill = Fill::Normal {
        mean: 0.0,
        deviation: 1.0,
    };

    /// A tensor of this fill.
    ///
    /// # Errors
    /// None in practice: the number of elements is the shape's.
    pub fn generate(&self, dtype: DType, shape: &[usize], seed: u64) -> Result<HostTensor> {
        let n: usize = shape.iter().product();
        if let Fill::Bits | Fill::CycleBits(_) = self {
            let word = |i: usize| match self {
                Fill::CycleBits(bits) => bits[i % bits.len()],
                _ => random(seed, i as u64) as u32,
            };
            if dtype.size() == 4 {
                return HostTensor::from_bytes(
                    dtype,
                    shape,
                    bytemuck::cast_slice(&parallel::map(n, word)),
                );
            }
            let halves = parallel::map(n, |i| word(i) as u16);
            return HostTensor::from_bytes(dtype, shape, bytemuck::cast_slice(&halves));
        }
        let value = |i: usize| -> f64 {
            let index = i as u64;
            match self {
                Fill::Normal { mean, deviation } => {
                    // Box and Muller 1958; 1 − u is never 0.
                    let radius = (-2.0 * (1.0 - unit(seed, 2 * index)).ln()).sqrt();
                    mean + deviation
                        * radius
                        * (std::f64::consts::TAU * unit(seed, 2 * index + 1)).cos()
                }
                Fill::Uniform { low, high } => low + (high - low) * unit(seed, index),
                Fill::Integers { low, high } => {
                    (*low + (random(seed, index) % (high - low + 1) as u64) as i64) as f64
                }
                Fill::Constant(v) => *v,
                Fill::Cycle(values) => values[i % values.len()],
                Fill::Ramp { first, step } => first + step * i as f64,
                Fill::Magnitudes { low, high } => {
                    let sign = if random(seed, 2 * index) & 1 == 0 {
                        1.0
                    } else {
                        -1.0
                    };
                    sign * 10f64.powf(low + (high - low) * unit(seed, 2 * index + 1))
                }
                Fill::Mask(p) => (unit(seed, index) < *p) as u32 as f64,
                Fill::Bits | Fill::CycleBits(_) => 0.0,
            }
        };
        fn typed<T: Element>(
            shape: &[usize],
            n: usize,
            value: impl Fn(usize) -> f64 + Sync + Send,
        ) -> Result<HostTensor> {
            HostTensor::new(shape, parallel::map(n, |i| T::from_f64(value(i))))
        }
        match dtype {
            DType::F32 => typed::<f32>(shape, n, value),
            DType::F16 => typed::<half::f16>(shape, n, value),
            DType::BF16 => typed::<half::bf16>(shape, n, value),
            DType::I32 => typed::<i32>(shape, n, value),
            DType::U32 => typed::<u32>(shape, n, value),
        }
    }
}
