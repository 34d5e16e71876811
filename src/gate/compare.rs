//! Comparing outputs with what they must be.

use crate::dtype::DType;
use crate::gate::execute::POISON;
use crate::host::HostTensor;

/// What an output must be.
#[derive(Debug, Clone)]
pub enum Expected {
    /// Within `allowed[i]` of `values[i]`. NaN must be NaN; an infinity must be
    /// the same infinity, unless the allowed error is infinite.
    Close {
        /// Exact results.
        values: Vec<f64>,
        /// The published bound at each element, absolute.
        allowed: Vec<f64>,
    },
    /// These numbers, bit for bit, except that any NaN is as good as another
    /// and −0 equals +0.
    Exact(HostTensor),
    /// These bits: what movement and sorting must keep.
    Bits(HostTensor),
    /// These bits at the front of an output with room for more. What lies behind
    /// them must be as it was: a gate's poison, or the zeros of a new tensor.
    Leading(HostTensor),
    /// What can be said of an output too large for a reference of every element.
    Sampled(Sample),
}

/// Some elements of an output, and weighted sums of its rows.
///
/// The sums are Freivalds' check (Probabilistic machines can use less running
/// time, 1977) of products of matrices: with random signs as weights, a row
/// with any wrong element has a wrong sum, but for cancellation by chance.
#[derive(Debug, Clone, Default)]
pub struct Sample {
    /// Positions of elements, in row-major order.
    pub positions: Vec<usize>,
    /// Exact results at these positions.
    pub values: Vec<f64>,
    /// The published bound at each of them, absolute.
    pub allowed: Vec<f64>,
    /// A weight for each column (element of the last axis); none for no sums.
    pub weights: Vec<f64>,
    /// The exact sum of each row's weighted elements.
    pub sums: Vec<f64>,
    /// The error allowed to each sum, but for the rounding of the stored elements.
    pub sums_allowed: Vec<f64>,
}

/// How many standard deviations the sum of rounding errors under random signs
/// may be off: by Hoeffding's inequality more happens once in 10^12 rows.
pub(crate) const SIGNS: f64 = 7.6;

impl Expected {
    /// Values within a bound that is a function of the value.
    pub fn close(values: Vec<f64>, allowed: impl Fn(f64) -> f64) -> Expected {
        let allowed = values.iter().map(|&v| allowed(v)).collect();
        Expected::Close { values, allowed }
    }
}

/// The largest errors of an output.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    /// The largest |got − expected|.
    pub max_abs: f64,
    /// The largest |got − expected| / |expected|.
    pub max_rel: f64,
    /// The largest error in units in the last place of the output's dtype.
    pub max_ulp: f64,
    /// The largest error over the error allowed there.
    pub bound_ratio: f64,
    /// The worst element, where one is beyond its bound.
    pub failure: Option<String>,
}

/// Compares an output with what it must be; the shapes are known to agree.
pub fn compare(got: &HostTensor, expected: &Expected) -> Comparison {
    match expected {
        Expected::Bits(expected) => compare_bits(got, expected),
        Expected::Exact(expected) => {
            compare_close(got.dtype(), &got.to_f64(), &expected.to_f64(), |_| 0.0)
        }
        Expected::Close { values, allowed } => {
            compare_close(got.dtype(), &got.to_f64(), values, |i| allowed[i])
        }
        Expected::Leading(expected) => compare_leading(got, expected),
        Expected::Sampled(sample) => compare_sample(got, sample),
    }
}

fn compare_sample(got: &HostTensor, sample: &Sample) -> Comparison {
    let values = got.to_f64();
    let chosen: Vec<f64> = sample.positions.iter().map(|&i| values[i]).collect();
    let mut result = compare_close(got.dtype(), &chosen, &sample.values, |i| sample.allowed[i]);
    if let Some(failure) = &mut result.failure {
        *failure = format!("of elements sampled, {failure}");
    }
    if sample.weights.is_empty() {
        return result;
    }
    let rows: Vec<&[f64]> = values.chunks(sample.weights.len()).collect();
    let sum = |row: &&[f64]| row.iter().zip(&sample.weights).map(|(y, w)| y * w).sum();
    let sums: Vec<f64> = rows.iter().map(sum).collect();
    // Whole numbers in f32 are stored as they are; else half a unit in the last place.
    let unit = if got.dtype() == DType::F32 {
        0.0
    } else {
        ulp(got.dtype(), 1.0) / 2.0
    };
    let allowed = |i: usize| {
        let norm = rows[i].iter().map(|y| y * y).sum::<f64>().sqrt();
        sample.sums_allowed[i] + SIGNS * unit * norm
    };
    let of_rows = compare_close(DType::F32, &sums, &sample.sums, allowed);
    if let Some(failure) = of_rows.failure {
        result.bound_ratio = result.bound_ratio.max(of_rows.bound_ratio);
        let failure = format!("of weighted sums of rows, {failure}");
        result.failure.get_or_insert(failure);
    }
    result
}

fn compare_leading(got: &HostTensor, expected: &HostTensor) -> Comparison {
    let size = got.dtype().size();
    let count = expected.len();
    let (front, behind) = got.bytes().split_at(got.bytes().len().min(count * size));
    let mut comparison = match HostTensor::from_bytes(got.dtype(), &[front.len() / size], front) {
        Ok(front) if front.len() == count => compare_bits(&front, expected),
        _ => Comparison {
            bound_ratio: f64::INFINITY,
            failure: Some(format!("room for {} elements, not for {count}", got.len())),
            ..Comparison::default()
        },
    };
    let as_it_was = |byte: u8| behind.iter().all(|b| *b == byte);
    if comparison.failure.is_none() && !as_it_was(POISON) && !as_it_was(0) {
        comparison.bound_ratio = f64::INFINITY;
        comparison.failure = Some(format!(
            "something was written behind the {count} elements that there are"
        ));
    }
    comparison
}

fn compare_bits(got: &HostTensor, expected: &HostTensor) -> Comparison {
    let mut comparison = compare_close(got.dtype(), &got.to_f64(), &expected.to_f64(), |_| 0.0);
    let size = got.dtype().size();
    let differs = |(a, b): (&[u8], &[u8])| a != b;
    let chunks = got.bytes().chunks(size).zip(expected.bytes().chunks(size));
    let count = chunks.clone().filter(|c| differs(*c)).count();
    if let Some(i) = chunks.clone().position(differs) {
        comparison.bound_ratio = f64::INFINITY;
        comparison.failure = Some(format!(
            "element {i} is {:?} instead of {:?} (bits must be kept; {count} of {} differ)",
            got.to_f64()[i],
            expected.to_f64()[i],
            got.len(),
        ));
    }
    comparison
}

fn compare_close(
    dtype: DType,
    got_values: &[f64],
    expected: &[f64],
    allowed: impl Fn(usize) -> f64,
) -> Comparison {
    let mut result = Comparison::default();
    let (mut worst, mut beyond) = (0, 0usize);
    if got_values.len() != expected.len() {
        result.bound_ratio = f64::INFINITY;
        result.failure = Some(format!(
            "{} elements instead of {}",
            got_values.len(),
            expected.len()
        ));
        return result;
    }
    for (i, (&g, &e)) in got_values.iter().zip(expected).enumerate() {
        let allowed = allowed(i);
        let error = if g == e || (g.is_nan() && e.is_nan()) {
            0.0
        } else if g.is_nan() || e.is_nan() || (e.is_infinite() && allowed.is_finite()) {
            f64::INFINITY
        } else {
            (g - e).abs()
        };
        let ratio = if error == 0.0 { 0.0 } else { error / allowed };
        // NaN from inf/inf: an infinite error where an infinite one is allowed.
        let ratio = if ratio.is_nan() { 1.0 } else { ratio };
        result.max_abs = result.max_abs.max(error);
        if error > 0.0 {
            result.max_rel = result.max_rel.max(error / e.abs());
            result.max_ulp = result.max_ulp.max(error / ulp(dtype, e));
        }
        beyond += (ratio > 1.0) as usize;
        if ratio > result.bound_ratio {
            result.bound_ratio = ratio;
            worst = i;
        }
    }
    if result.bound_ratio > 1.0 {
        result.failure = Some(format!(
            "element {worst} is {:e} instead of {:e} (allowed error {:e}; {beyond} of {} beyond)",
            got_values[worst],
            expected[worst],
            allowed(worst),
            expected.len(),
        ));
    }
    result
}

/// The gap between neighbours of `x` in a dtype; 1 for integers.
pub fn ulp(dtype: DType, x: f64) -> f64 {
    let (digits, least_exponent) = match dtype {
        DType::F32 => (24, -126),
        DType::F16 => (11, -14),
        DType::BF16 => (8, -126),
        DType::I32 | DType::U32 => return 1.0,
    };
    if !x.is_finite() || x == 0.0 {
        return 2f64.powi(least_exponent - digits + 1);
    }
    let exponent = ((x.abs().to_bits() >> 52) as i32 - 1023).max(least_exponent);
    2f64.powi(exponent - digits + 1)
}

/// The error of rounding `x` to a dtype to nearest, subnormal gaps included; 0 for integers.
/// Where the rounded value is beyond the dtype's range, infinite: both the
/// largest number and infinity are then right for a computed neighbour of `x`.
pub fn store_rounding(dtype: DType, x: f64) -> f64 {
    let largest = match dtype {
        DType::F32 => f32::MAX as f64,
        DType::F16 => 65504.0,
        DType::BF16 => half::bf16::MAX.to_f64(),
        DType::I32 | DType::U32 => return 0.0,
    };
    if x.abs() >= largest {
        f64::INFINITY
    } else {
        ulp(dtype, x) / 2.0
    }
}
