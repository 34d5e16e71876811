//! Sorting by the standard library's stable sort, comparing numbers as the
//! documented order says.

use std::cmp::Ordering;

use crate::cpu::parallel;
use crate::dtype::DType;
use crate::error::Result;
use crate::gate::Expected;
use crate::gate::oracle::gather;
use crate::host::HostTensor;
use crate::kernels::sort::Order;

/// Sorted keys, and the values that moved with them: `values`, or each key's
/// place in its row.
pub(crate) fn sort(
    keys: &HostTensor,
    values: Option<&HostTensor>,
    order: Order,
) -> Result<Vec<Expected>> {
    let numbers = keys.to_f64();
    let dtype = keys.dtype();
    let width = 8 * dtype.size() as u32;
    let columns = keys.shape().last().copied().unwrap_or(1);
    // What is compared: the number itself, or the integer in the bit range, which f64 holds too.
    let compared = |i: usize| {
        if order.bits() == width {
            return numbers[i];
        }
        let bits = unsigned(dtype, stored_bits(keys, i));
        ((bits >> order.begin) % (1 << order.bits())) as f64
    };
    let compare = |a: &(f64, usize), b: &(f64, usize)| {
        let ordering = compare_numbers(a.0, b.0);
        if order.descending {
            ordering.reverse()
        } else {
            ordering
        }
    };
    let mut entries = parallel::map(numbers.len(), |i| (compared(i), i));
    if columns > 0 {
        entries
            .chunks_mut(columns)
            .for_each(|row| parallel::sort_by(row, compare));
    }
    let from: Vec<usize> = entries.into_iter().map(|(_, i)| i).collect();
    let payload = match values {
        Some(values) => gather(values, &from, values.shape())?,
        None => {
            let places = from.iter().map(|&i| (i % columns) as i32).collect();
            HostTensor::new(keys.shape(), places)?
        }
    };
    Ok(vec![
        Expected::Bits(gather(keys, &from, keys.shape())?),
        Expected::Bits(payload),
    ])
}

/// −inf < … < −0 = +0 < … < +inf < every NaN.
fn compare_numbers(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b)
        .unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

fn stored_bits(keys: &HostTensor, i: usize) -> i64 {
    let size = keys.dtype().size();
    let bytes = &keys.bytes()[i * size..(i + 1) * size];
    bytes.iter().rev().fold(0, |bits, &b| bits << 8 | b as i64)
}

/// The unsigned integer whose bits a bit range names.
fn unsigned(dtype: DType, bits: i64) -> i64 {
    let half = 1 << (8 * dtype.size() - 1);
    let infinity = match dtype {
        DType::U32 => return bits,
        DType::I32 => return (bits + half) % (2 * half),
        DType::F32 => 0x7f80_0000,
        DType::F16 => 0x7c00,
        DType::BF16 => 0x7f80,
    };
    let magnitude = bits % half;
    if magnitude > infinity {
        2 * half - 1
    } else if bits < half {
        half + magnitude
    } else {
        half - magnitude
    }
}
