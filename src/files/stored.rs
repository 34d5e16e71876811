//! Element types as files store them, and their exact conversion to ours.

use std::io::Read;

use half::{bf16, f16};

use super::Problem;
use crate::dtype::{DType, Element};
use crate::host::{HostTensor, element_count};

/// The type of the elements in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stored {
    Exact(DType),
    Bool,
    I8,
    U8,
    I16,
    U16,
    I64,
    U64,
    F64,
}

impl Stored {
    pub(super) fn size(self) -> usize {
        match self {
            Stored::Exact(dtype) => dtype.size(),
            Stored::Bool | Stored::I8 | Stored::U8 => 1,
            Stored::I16 | Stored::U16 => 2,
            Stored::I64 | Stored::U64 | Stored::F64 => 8,
        }
    }

    /// The bytes of a tensor of this shape, when that is a number of bytes.
    pub(super) fn bytes_of(self, shape: &[usize]) -> Option<u64> {
        let bytes = element_count(shape)?.checked_mul(self.size())?;
        u64::try_from(bytes).ok()
    }
}

/// How the elements of a tensor lie in a file.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub(super) stored: Stored,
    pub(super) big_endian: bool,
    /// The first axis is the fastest, instead of the last.
    pub(super) fortran: bool,
    pub(super) shape: Vec<usize>,
}

/// An element that its type here does not hold.
struct Refused {
    value: String,
    why: &'static str,
}

/// Reads a tensor. `proven` says that the bytes are known to be there, so that the
/// memory is reserved at once; otherwise it grows with what really arrives.
pub(super) fn read(
    reader: &mut dyn Read,
    layout: &Layout,
    proven: bool,
) -> Result<HostTensor, Problem> {
    let mut elements = Elements {
        reader,
        layout,
        proven,
    };
    match layout.stored {
        Stored::Exact(DType::F32) => elements.tensor(|b| Ok(f32::from_le_bytes(b))),
        Stored::Exact(DType::F16) => elements.tensor(|b| Ok(f16::from_le_bytes(b))),
        Stored::Exact(DType::BF16) => elements.tensor(|b| Ok(bf16::from_le_bytes(b))),
        Stored::Exact(DType::I32) => elements.tensor(|b| Ok(i32::from_le_bytes(b))),
        Stored::Exact(DType::U32) => elements.tensor(|b| Ok(u32::from_le_bytes(b))),
        Stored::I8 => elements.tensor(|b| Ok(i32::from(i8::from_le_bytes(b)))),
        Stored::U8 => elements.tensor(|b| Ok(u32::from(u8::from_le_bytes(b)))),
        Stored::I16 => elements.tensor(|b| Ok(i32::from(i16::from_le_bytes(b)))),
        Stored::U16 => elements.tensor(|b| Ok(u32::from(u16::from_le_bytes(b)))),
        Stored::Bool => elements.tensor(|[b]: [u8; 1]| match b {
            0 | 1 => Ok(u32::from(b)),
            other => Err(Refused {
                value: format!("the byte {other}"),
                why: "a bool is 0 or 1",
            }),
        }),
        Stored::I64 => elements.tensor(|b| {
            let value = i64::from_le_bytes(b);
            i32::try_from(value).map_err(|_| Refused {
                value: value.to_string(),
                why: "i64 is read as i32, which does not hold it",
            })
        }),
        Stored::U64 => elements.tensor(|b| {
            let value = u64::from_le_bytes(b);
            u32::try_from(value).map_err(|_| Refused {
                value: value.to_string(),
                why: "u64 is read as u32, which does not hold it",
            })
        }),
        Stored::F64 => elements.tensor(|b| {
            let value = f64::from_le_bytes(b);
            let rounded = value as f32;
            if f64::from(rounded) == value || value.is_nan() {
                Ok(rounded)
            } else {
                Err(Refused {
                    value: value.to_string(),
                    why: "f64 is read as f32, which does not hold it exactly",
                })
            }
        }),
    }
}

struct Elements<'a> {
    reader: &'a mut dyn Read,
    layout: &'a Layout,
    proven: bool,
}

impl Elements<'_> {
    fn tensor<T: Element, const N: usize>(
        &mut self,
        decode: impl Fn([u8; N]) -> Result<T, Refused>,
    ) -> Result<HostTensor, Problem> {
        let shape = &self.layout.shape;
        let count = element_count(shape).ok_or_else(|| too_large(shape))?;
        let mut values: Vec<T> = Vec::new();
        if self.proven {
            reserve(&mut values, count)?;
        }
        // A multiple of every element's size.
        let mut buffer = [0u8; 1 << 14];
        while values.len() < count {
            let take = (count - values.len()).min(buffer.len() / N);
            let bytes = &mut buffer[..take * N];
            self.reader.read_exact(bytes).map_err(|e| match e.kind() {
                std::io::ErrorKind::UnexpectedEof => {
                    "the data ends before its last element; the file is cut short".to_string()
                }
                _ => format!("cannot be read: {e}"),
            })?;
            if self.layout.big_endian {
                bytes.chunks_exact_mut(N).for_each(<[u8]>::reverse);
            }
            if values.try_reserve(take).is_err() {
                return Err(no_memory::<T>(count));
            }
            for raw in bytes.as_chunks::<N>().0 {
                match decode(*raw) {
                    Ok(value) => values.push(value),
                    Err(refused) => return Err(self.refusal(values.len(), &refused)),
                }
            }
        }
        if self.layout.fortran {
            values = row_major(&values, shape)?;
        }
        HostTensor::new(shape, values).map_err(|e| e.to_string())
    }

    fn refusal(&self, index: usize, refused: &Refused) -> Problem {
        format!(
            "element {:?} is {}, and {}; convert the array to float32, float16, int32 or uint32 where it is made",
            coordinates(index, self.layout),
            refused.value,
            refused.why
        )
    }
}

fn too_large(shape: &[usize]) -> Problem {
    format!("the shape {shape:?} has more elements than can be counted; the header is wrong")
}

fn no_memory<T: Element>(count: usize) -> Problem {
    format!(
        "no memory for {count} elements of {}; read a smaller tensor",
        T::DTYPE
    )
}

fn reserve<T: Element>(values: &mut Vec<T>, count: usize) -> Result<(), Problem> {
    values
        .try_reserve_exact(count)
        .map_err(|_| no_memory::<T>(count))
}

/// Elements whose first axis is the fastest, with the last the fastest.
fn row_major<T: Element>(values: &[T], shape: &[usize]) -> Result<Vec<T>, Problem> {
    let mut out = Vec::new();
    reserve(&mut out, values.len())?;
    let mut step = 1;
    // From the slowest axis of the result to the fastest: extent, step in `values`.
    let axes: Vec<(usize, usize)> = shape
        .iter()
        .map(|&extent| {
            let axis = (extent, step);
            step *= extent;
            axis
        })
        .collect();
    let mut at = vec![0; axes.len()];
    let mut from = 0;
    for _ in 0..values.len() {
        out.push(values[from]);
        for (index, &(extent, step)) in at.iter_mut().zip(&axes).rev() {
            *index += 1;
            from += step;
            if *index < extent {
                break;
            }
            from -= step * extent;
            *index = 0;
        }
    }
    Ok(out)
}

/// The index of an element along each axis, from its place in the file.
fn coordinates(mut place: usize, layout: &Layout) -> Vec<usize> {
    let mut at = vec![0; layout.shape.len()];
    let mut visit = |axis: usize| {
        at[axis] = place % layout.shape[axis];
        place /= layout.shape[axis];
    };
    match layout.fortran {
        true => (0..layout.shape.len()).for_each(&mut visit),
        false => (0..layout.shape.len()).rev().for_each(&mut visit),
    }
    at
}
