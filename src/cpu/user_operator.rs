//! The CPU twins of reductions and scans by a user's operator, which is interpreted.

use std::borrow::Cow;

use crate::cpu::parallel;
use crate::dtype::DType;
use crate::error::Result;
use crate::host::HostTensor;
use crate::kernels::reduce::user_operator::UserOperator;
use crate::user::Scratch;

/// Elements that one thread combines before it has something to pass on.
const CHUNK: usize = 4096;

/// A tensor's elements as words: floats by their bits in f32.
pub(crate) fn words(x: &HostTensor) -> Cow<'_, [u32]> {
    match x.dtype() {
        DType::F16 | DType::BF16 => Cow::Owned(x.to_f32().iter().map(|v| v.to_bits()).collect()),
        _ => Cow::Borrowed(bytemuck::cast_slice(x.bytes())),
    }
}

/// Words as a tensor of this dtype.
pub(crate) fn tensor(dtype: DType, shape: &[usize], words: Vec<u32>) -> Result<HostTensor> {
    match dtype {
        DType::F16 | DType::BF16 => {
            let values = words.into_iter().map(f32::from_bits).collect();
            HostTensor::from_f32(dtype, shape, values)
        }
        _ => HostTensor::from_bytes(dtype, shape, bytemuck::cast_slice(&words)),
    }
}

/// Elements at equal distances: a row, a column, or a part of one.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    pub words: &'a [u32],
    pub first: usize,
    pub stride: usize,
    pub count: usize,
}

impl<'a> Line<'a> {
    fn element(&self, i: usize, size: usize) -> &'a [u32] {
        let at = (self.first + i * self.stride) * size;
        &self.words[at..at + size]
    }

    fn part(&self, from: usize, to: usize) -> Line<'a> {
        Line {
            first: self.first + from * self.stride,
            count: to - from,
            ..*self
        }
    }

    fn chunks(&self) -> impl Fn(usize) -> Line<'a> + use<'a> {
        let line = *self;
        move |i| line.part(i * CHUNK, line.count.min((i + 1) * CHUNK))
    }
}

/// The combination of a line's elements in order.
pub(crate) fn fold(operator: &UserOperator, line: Line<'_>) -> Result<Vec<u32>> {
    if line.count > CHUNK {
        let chunk = line.chunks();
        let totals = parallel::map(line.count.div_ceil(CHUNK), |i| fold(operator, chunk(i)));
        let totals = totals.into_iter().collect::<Result<Vec<_>>>()?.concat();
        let line = Line {
            count: totals.len() / operator.words(),
            words: &totals,
            first: 0,
            stride: 1,
        };
        return fold(operator, line);
    }
    let mut scratch = Scratch::new();
    let mut total = operator.identity().to_vec();
    for i in 0..line.count {
        operator.combine(&mut total, line.element(i, operator.words()), &mut scratch)?;
    }
    Ok(total)
}

/// The combinations of all elements up to each one, or before it, in order.
pub(crate) fn scan(operator: &UserOperator, line: Line<'_>, exclusive: bool) -> Result<Vec<u32>> {
    let chunk = line.chunks();
    let count = line.count.div_ceil(CHUNK);
    let size = operator.words();
    let mut prefixes = vec![operator.identity().to_vec()];
    if count > 1 {
        let mut scratch = Scratch::new();
        for total in parallel::map(count - 1, |i| fold(operator, chunk(i))) {
            let mut prefix = prefixes[prefixes.len() - 1].clone();
            operator.combine(&mut prefix, &total?, &mut scratch)?;
            prefixes.push(prefix);
        }
    }
    let scanned = parallel::map(count, |i| {
        let (part, mut total) = (chunk(i), prefixes[i].clone());
        let mut scratch = Scratch::new();
        let mut scanned = Vec::with_capacity(part.count * size);
        for k in 0..part.count {
            if exclusive {
                scanned.extend_from_slice(&total);
            }
            operator.combine(&mut total, part.element(k, size), &mut scratch)?;
            if !exclusive {
                scanned.extend_from_slice(&total);
            }
        }
        Ok(scanned)
    });
    Ok(scanned.into_iter().collect::<Result<Vec<_>>>()?.concat())
}
