//! The CPU twin of histograms: pieces are counted side by side and added up.

use crate::cpu::parallel;
use crate::error::Result;
use crate::host::{HostData, HostTensor};
use crate::kernels::histogram::Bins;

/// Elements a bin below which a piece of its own is not worth its counters.
const PIECE_PER_BIN: usize = 16;

/// How many elements fall into each bin.
pub(crate) fn histogram(x: &HostTensor, bins: Bins) -> Result<HostTensor> {
    let counts = match x.data() {
        HostData::F32(v) => floats(v, bins, |x| x),
        HostData::F16(v) => floats(v, bins, |x| x.to_f32()),
        HostData::BF16(v) => floats(v, bins, |x| x.to_f32()),
        HostData::I32(v) => integers(v, bins, |x| x as i64),
        HostData::U32(v) => integers(v, bins, |x| x as i64),
    };
    HostTensor::new(&[bins.count], counts)
}

fn floats<T: Copy + Sync>(values: &[T], bins: Bins, widen: impl Fn(T) -> f32 + Sync) -> Vec<i32> {
    let Some(even) = bins.even else {
        return vec![0; bins.count];
    };
    let (low, high) = (even.min as f32, even.max as f32);
    let scale = even.scale(bins.count);
    counted(values, bins.count, |x| {
        let x = widen(x);
        let within = x >= low && (x < high || (even.inclusive && x == high));
        within.then(|| (((x - low) * scale) as usize).min(bins.count - 1))
    })
}

fn integers<T: Copy + Sync>(values: &[T], bins: Bins, widen: impl Fn(T) -> i64 + Sync) -> Vec<i32> {
    let count = bins.count as i64;
    match bins.even {
        None => counted(values, bins.count, |x| {
            let x = widen(x);
            (0..count).contains(&x).then_some(x as usize)
        }),
        Some(even) => {
            let (low, high) = (even.min as i64, even.max as i64);
            counted(values, bins.count, |x| {
                let x = widen(x);
                let within = x >= low && (x < high || (even.inclusive && x == high));
                within.then(|| ((x - low) * count / (high - low)).min(count - 1) as usize)
            })
        }
    }
}

fn counted<T: Copy + Sync>(
    values: &[T],
    bins: usize,
    bin: impl Fn(T) -> Option<usize> + Sync,
) -> Vec<i32> {
    let least = (PIECE_PER_BIN * bins).max(1 << 15);
    let piece = values.len().div_ceil(parallel::threads()).max(least);
    let count = |piece: &[T]| {
        let mut counts = vec![0i32; bins];
        for &x in piece {
            if let Some(bin) = bin(x) {
                counts[bin] += 1;
            }
        }
        counts
    };
    let pieces: Vec<&[T]> = values.chunks(piece).collect();
    let found = parallel::map_pieces(pieces, count);
    let mut found = found.into_iter();
    let mut total = found.next().unwrap_or_else(|| vec![0; bins]);
    for counts in found {
        total
            .iter_mut()
            .zip(counts)
            .for_each(|(sum, count)| *sum += count);
    }
    total
}
