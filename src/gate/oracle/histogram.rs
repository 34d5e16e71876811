//! Histograms by exact positions: of integers in 128 bits, of floats in f64 with
//! the elements that lie too near to an edge for f32 to tell.

use crate::error::Result;
use crate::gate::Expected;
use crate::host::HostTensor;
use crate::kernels::histogram::Bins;

/// The relative error of a position in f32: a difference, a rounded scale and a
/// product, and one for the products of their errors.
const POSITION: f64 = 4.0 / (1u64 << 24) as f64;

/// What each bin must hold.
pub(crate) fn histogram(x: &HostTensor, bins: Bins) -> Result<Expected> {
    let mut counts = vec![0i32; bins.count];
    let mut doubtful = vec![0.0f64; bins.count];
    let float = x.dtype().is_float();
    let last = bins.count - 1;
    for v in x.to_f64() {
        let Some(even) = bins.even else {
            if v >= 0.0 && v <= last as f64 {
                counts[v as usize] += 1;
            }
            continue;
        };
        if v.is_nan() || v < even.min || v > even.max || (v == even.max && !even.inclusive) {
            continue;
        }
        if !float {
            let (low, high) = (even.min as i128, even.max as i128);
            let bin = (v as i128 - low) * bins.count as i128 / (high - low);
            counts[(bin as usize).min(last)] += 1;
            continue;
        }
        let position = (v - even.min) * bins.count as f64 / (even.max - even.min);
        let bin = |position: f64| (position.max(0.0) as usize).min(last);
        counts[bin(position)] += 1;
        let reach = position * POSITION;
        let (least, most) = (bin(position - reach), bin(position + reach));
        if least != most {
            doubtful[least..=most].iter_mut().for_each(|d| *d += 1.0);
        }
    }
    Ok(match float {
        true => Expected::Close {
            values: counts.into_iter().map(f64::from).collect(),
            allowed: doubtful,
        },
        false => Expected::Exact(HostTensor::new(&[bins.count], counts)?),
    })
}
