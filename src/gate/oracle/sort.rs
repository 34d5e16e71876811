//! Sorting by the standard library's stable sort, comparing numbers as the
//! documented order says.

use std::cmp::Ordering;

use crate::dtype::DType;
use crate::error::Result;
use crate::gate::Expected;
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
    let compare = |&a: &usize, &b: &usize| {
        let ordering = if order.bits() == width {
            compare_numbers(numbers[a], numbers[b])
        } else {
            let part = |i: usize| {
                let bits = stored_bits(keys, i);
                (unsigned(dtype, bits) >> order.begin) % (1 << order.bits())
            };
            part(a).cmp(&part(b))
        };
        if order.descending {
            ordering.reverse()
        } else {
            ordering
        }
    };
    let mut from: Vec<usize> = (0..numbers.len()).collect();
    if columns > 0 {
        from.chunks_mut(columns)
            .for_each(|row| row.sort_by(compare));
    }
    let payload = match values {
        Some(values) => gather(values, &from)?,
        None => {
            let places = from.iter().map(|&i| (i % columns) as i32).collect();
            HostTensor::new(keys.shape(), places)?
        }
    };
    Ok(vec![
        Expected::Bits(gather(keys, &from)?),
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

fn gather(tensor: &HostTensor, from: &[usize]) -> Result<HostTensor> {
    let size = tensor.dtype().size();
    let mut bytes = Vec::with_capacity(from.len() * size);
    for &i in from {
        bytes.extend_from_slice(&tensor.bytes()[i * size..(i + 1) * size]);
    }
    HostTensor::from_bytes(tensor.dtype(), tensor.shape(), &bytes)
}
