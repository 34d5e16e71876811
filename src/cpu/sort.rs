//! The CPU twin of the sorts: least significant digit first, 8 bits a pass, on
//! all cores. Passes in which all keys have one digit are left out.

use crate::cpu::parallel;
use crate::dtype::DType;
use crate::error::Result;
use crate::host::HostTensor;
use crate::kernels::sort::Order;

/// Keys in a thread's share of a pass, at least: fewer are not worth the start of a thread.
const SHARE: usize = 1 << 16;
/// Rows up to this long are sorted by comparisons.
const SHORT: usize = 192;
const DIGITS: usize = 256;

/// The keys, sorted along the last axis.
pub(crate) fn sort(keys: &HostTensor, order: Order) -> Result<HostTensor> {
    let mut elements = words(keys);
    sort_rows(&mut elements, keys, order, |&bits| bits);
    tensor(keys.dtype(), keys.shape(), elements.into_iter())
}

/// The keys, and where along the last axis each came from.
pub(crate) fn sort_pairs(keys: &HostTensor, order: Order) -> Result<[HostTensor; 2]> {
    let columns = keys.shape().last().copied().unwrap_or(1).max(1);
    let places: Vec<u32> = (0..keys.len()).map(|i| (i % columns) as u32).collect();
    with_payload(keys, &places, DType::I32, order)
}

/// The keys, and the values that belong to them.
pub(crate) fn sort_by_key(
    keys: &HostTensor,
    values: &HostTensor,
    order: Order,
) -> Result<[HostTensor; 2]> {
    with_payload(keys, &words(values), values.dtype(), order)
}

fn with_payload(
    keys: &HostTensor,
    values: &[u32],
    dtype: DType,
    order: Order,
) -> Result<[HostTensor; 2]> {
    let mut pairs: Vec<[u32; 2]> = words(keys)
        .into_iter()
        .zip(values)
        .map(|(key, &value)| [key, value])
        .collect();
    sort_rows(&mut pairs, keys, order, |pair| pair[0]);
    Ok([
        tensor(keys.dtype(), keys.shape(), pairs.iter().map(|p| p[0]))?,
        tensor(dtype, keys.shape(), pairs.iter().map(|p| p[1]))?,
    ])
}

/// The stored bits of each element.
fn words(tensor: &HostTensor) -> Vec<u32> {
    match tensor.dtype().size() {
        4 => bytemuck::cast_slice(tensor.bytes()).to_vec(),
        _ => bytemuck::cast_slice::<u8, u16>(tensor.bytes())
            .iter()
            .map(|&bits| bits as u32)
            .collect(),
    }
}

fn tensor(
    dtype: DType,
    shape: &[usize],
    words: impl ExactSizeIterator<Item = u32>,
) -> Result<HostTensor> {
    let mut tensor = HostTensor::zeros(dtype, shape);
    match dtype.size() {
        4 => bytemuck::cast_slice_mut(tensor.bytes_mut())
            .iter_mut()
            .zip(words)
            .for_each(|(to, word)| *to = word),
        _ => bytemuck::cast_slice_mut(tensor.bytes_mut())
            .iter_mut()
            .zip(words)
            .for_each(|(to, word)| *to = word as u16),
    }
    Ok(tensor)
}

/// Sorts each row; `bits` finds the key's stored bits in an element.
fn sort_rows<E: Copy + Send + Sync + Default>(
    elements: &mut [E],
    keys: &HostTensor,
    order: Order,
    bits: impl Fn(&E) -> u32 + Copy + Sync,
) {
    let columns = keys.shape().last().copied().unwrap_or(1);
    if columns == 0 || elements.is_empty() {
        return;
    }
    // One function for each dtype, so that the inner loops have no branches on it.
    let flip = if order.descending { u32::MAX } else { 0 };
    macro_rules! by {
        ($ordered:expr) => {
            sort_rows_by(elements, columns, order, move |e: &E| {
                $ordered(bits(e)) ^ flip
            })
        };
    }
    match keys.dtype() {
        DType::U32 => by!(|bits: u32| bits),
        DType::I32 => by!(|bits: u32| bits ^ 0x8000_0000),
        DType::F32 => by!(|bits| float_order(bits, 0x8000_0000, 0x7f80_0000)),
        DType::F16 => by!(|bits| float_order(bits, 0x8000, 0x7c00)),
        DType::BF16 => by!(|bits| float_order(bits, 0x8000, 0x7f80)),
    }
}

/// An unsigned integer that sorts as the float does: −0 as +0, every NaN last.
fn float_order(bits: u32, sign: u32, infinity: u32) -> u32 {
    let magnitude = bits & (sign - 1);
    if magnitude > infinity {
        sign | (sign - 1)
    } else if bits < sign {
        sign + magnitude
    } else {
        sign - magnitude
    }
}

fn sort_rows_by<E: Copy + Send + Sync + Default>(
    elements: &mut [E],
    columns: usize,
    order: Order,
    ordered: impl Fn(&E) -> u32 + Copy + Sync,
) {
    let mask = ((1u64 << order.bits()) - 1) as u32;
    let part = move |e: &E| ordered(e).checked_shr(order.begin).unwrap_or(0) & mask;
    if columns <= SHORT {
        parallel::chunks_mut(elements, columns, |_, row| row.sort_by_key(part));
        return;
    }
    let shares = elements.len().div_ceil(SHARE).min(parallel::threads());
    let rows = elements.len() / columns;
    if rows >= shares {
        parallel::chunks_mut(elements, columns, |_, row| {
            radix_sort(row, 1, order.bits(), part);
        });
    } else {
        for row in elements.chunks_mut(columns) {
            radix_sort(row, shares, order.bits(), part);
        }
    }
}

/// Sorts by the lowest `bits` bits of `part`, in this many shares at a time.
fn radix_sort<E: Copy + Send + Sync + Default>(
    elements: &mut [E],
    shares: usize,
    bits: u32,
    part: impl Fn(&E) -> u32 + Copy + Sync,
) {
    let mut scratch = vec![E::default(); elements.len()];
    let (mut from, mut to) = (&mut *elements, &mut scratch[..]);
    let mut swapped = false;
    for shift in (0..bits).step_by(8) {
        let digit = move |e: &E| (part(e) >> shift) as usize % DIGITS;
        if pass(from, to, shares, digit) {
            std::mem::swap(&mut from, &mut to);
            swapped = !swapped;
        }
    }
    if swapped {
        to.copy_from_slice(from);
    }
}

/// Moves elements to their places by one digit; false where all are there already.
fn pass<E: Copy + Send + Sync>(
    from: &[E],
    to: &mut [E],
    shares: usize,
    digit: impl Fn(&E) -> usize + Copy + Sync,
) -> bool {
    let share = from.len().div_ceil(shares).max(1);
    let pieces: Vec<&[E]> = from.chunks(share).collect();
    let counts = parallel::map_pieces(pieces.clone(), |piece| {
        let mut counts = [0usize; DIGITS];
        piece.iter().for_each(|e| counts[digit(e)] += 1);
        counts
    });
    let total = |d: usize| counts.iter().map(|c| c[d]).sum::<usize>();
    if (0..DIGITS).any(|d| total(d) == from.len()) {
        return false;
    }
    // What each share writes: for each digit, a piece of its own of the target.
    let mut targets: Vec<Vec<&mut [E]>> = pieces.iter().map(|_| Vec::new()).collect();
    let mut rest = to;
    for d in 0..DIGITS {
        for (target, counts) in targets.iter_mut().zip(&counts) {
            let (piece, others) = rest.split_at_mut(counts[d]);
            target.push(piece);
            rest = others;
        }
    }
    let work = pieces.into_iter().zip(targets).collect();
    parallel::map_pieces(work, |(piece, targets): (&[E], Vec<&mut [E]>)| {
        let mut next = targets.into_iter().map(<[E]>::iter_mut).collect::<Vec<_>>();
        for e in piece {
            if let Some(place) = next[digit(e)].next() {
                *place = *e;
            }
        }
    });
    true
}
