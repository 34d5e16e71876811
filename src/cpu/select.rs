//! The CPU twin of compactions: pieces are counted and packed side by side.

use std::ops::Range;

use crate::cpu::parallel;
use crate::dtype::DType;
use crate::error::Result;
use crate::host::{HostData, HostTensor};

/// Elements of a piece: what one thread takes at a time.
const PIECE: usize = 1 << 15;

/// The elements whose mask is not 0, room for the others behind them, and their number.
pub(crate) fn select(x: &HostTensor, mask: &HostTensor) -> Result<Vec<HostTensor>> {
    let chosen = places(x.len(), masked(mask));
    let y = gathered(x, &chosen, x.len())?;
    Ok(vec![y, number(chosen.len())?])
}

/// The elements whose mask is not 0 and those whose mask is, and the number of the former.
pub(crate) fn partition(x: &HostTensor, mask: &HostTensor) -> Result<Vec<HostTensor>> {
    let kept = masked(mask);
    let mut order = places(x.len(), &kept);
    let count = order.len();
    order.extend(places(x.len(), |i| !kept(i)));
    Ok(vec![gathered(x, &order, x.len())?, number(count)?])
}

/// The first element of each run, and the number of runs.
pub(crate) fn unique(x: &HostTensor) -> Result<Vec<HostTensor>> {
    let starts = places(x.len(), starts_run(x));
    Ok(vec![gathered(x, &starts, x.len())?, number(starts.len())?])
}

/// The first element of each run, the run's length, and the number of runs.
pub(crate) fn run_length_encode(x: &HostTensor) -> Result<Vec<HostTensor>> {
    let starts = places(x.len(), starts_run(x));
    let ends = starts.iter().skip(1).copied().chain([x.len() as u32]);
    let lengths = starts.iter().zip(ends).map(|(from, to)| (to - from) as i32);
    let mut lengths: Vec<i32> = lengths.collect();
    lengths.resize(x.len(), 0);
    let lengths = HostTensor::new(&[x.len()], lengths)?;
    Ok(vec![
        gathered(x, &starts, x.len())?,
        lengths,
        number(starts.len())?,
    ])
}

fn number(count: usize) -> Result<HostTensor> {
    HostTensor::new(&[1], vec![count as u32])
}

/// The places below `n` that `kept` holds for, ascending.
fn places(n: usize, kept: impl Fn(usize) -> bool + Sync) -> Vec<u32> {
    let pieces: Vec<Range<usize>> = (0..n.div_ceil(PIECE))
        .map(|p| p * PIECE..n.min((p + 1) * PIECE))
        .collect();
    let of_piece = |piece: Range<usize>| {
        let chosen = piece.filter(|&i| kept(i)).map(|i| i as u32);
        chosen.collect::<Vec<_>>()
    };
    parallel::map_pieces(pieces, of_piece).concat()
}

fn masked(mask: &HostTensor) -> impl Fn(usize) -> bool + Sync + '_ {
    let words: &[u32] = bytemuck::cast_slice(mask.bytes());
    |i| words[i] != 0
}

/// Whether an element is unlike the one before it: bits decide for integers; of
/// floats −0 equals +0 and every NaN every other.
fn starts_run(x: &HostTensor) -> Box<dyn Fn(usize) -> bool + Sync + '_> {
    fn by<'a, T: Copy + Sync>(
        values: &'a [T],
        alike: impl Fn(T, T) -> bool + Sync + 'a,
    ) -> Box<dyn Fn(usize) -> bool + Sync + 'a> {
        Box::new(move |i| i == 0 || !alike(values[i - 1], values[i]))
    }
    match x.data() {
        HostData::F32(v) => by(v, |a, b| a == b || (a.is_nan() && b.is_nan())),
        HostData::F16(v) => by(v, |a, b| a == b || (a.is_nan() && b.is_nan())),
        HostData::BF16(v) => by(v, |a, b| a == b || (a.is_nan() && b.is_nan())),
        HostData::I32(v) => by(v, |a, b| a == b),
        HostData::U32(v) => by(v, |a, b| a == b),
    }
}

/// The elements at these places, bit for bit, then zeros up to `capacity`.
fn gathered(x: &HostTensor, places: &[u32], capacity: usize) -> Result<HostTensor> {
    fn of<T: bytemuck::Pod + Default + Send + Sync>(
        bytes: &[u8],
        places: &[u32],
        capacity: usize,
    ) -> Vec<T> {
        let from: &[T] = bytemuck::cast_slice(bytes);
        let mut to = vec![T::default(); capacity];
        let filled = to.len().min(places.len());
        parallel::chunks_mut(&mut to[..filled], PIECE, |piece, to| {
            let places = &places[piece * PIECE..];
            to.iter_mut()
                .zip(places)
                .for_each(|(to, &i)| *to = from[i as usize]);
        });
        to
    }
    let shape = [capacity];
    let dtype = x.dtype();
    match dtype {
        DType::F16 | DType::BF16 => {
            let words: Vec<u16> = of(x.bytes(), places, capacity);
            HostTensor::from_bytes(dtype, &shape, bytemuck::cast_slice(&words))
        }
        DType::F32 | DType::I32 | DType::U32 => {
            let words: Vec<u32> = of(x.bytes(), places, capacity);
            HostTensor::from_bytes(dtype, &shape, bytemuck::cast_slice(&words))
        }
    }
}
