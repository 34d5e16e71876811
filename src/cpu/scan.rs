//! The CPU twin of scans.

use half::{bf16, f16};

use crate::cpu::number::Number;
use crate::cpu::parallel;
use crate::error::Result;
use crate::host::{HostData, HostTensor};
use crate::kernels::rows::Rows;
use crate::kernels::scan::Kind;
use crate::kernels::scan::steps::Direction;

/// Elements of a long row that one thread scans.
const CHUNK: usize = 1 << 15;

/// The scan `kind` of the rows of `x`.
pub(crate) fn scan(
    kind: Kind,
    x: &HostTensor,
    rows: &Rows,
    direction: Direction,
) -> Result<HostTensor> {
    let shape = x.shape();
    match x.data() {
        HostData::F32(v) => HostTensor::new(shape, of_kind::<f32, f32>(kind, v, rows, direction)),
        HostData::F16(v) => HostTensor::new(shape, of_kind::<f32, f16>(kind, v, rows, direction)),
        HostData::BF16(v) => HostTensor::new(shape, of_kind::<f32, bf16>(kind, v, rows, direction)),
        HostData::I32(v) => HostTensor::new(shape, of_kind::<i32, i32>(kind, v, rows, direction)),
        HostData::U32(v) => HostTensor::new(shape, of_kind::<u32, u32>(kind, v, rows, direction)),
    }
}

/// Elements as they are stored, and the numbers that they are computed in.
trait Stored<N>: Copy + Default + Send + Sync {
    fn load(self) -> N;
    fn store(value: N) -> Self;
}

macro_rules! stored {
    ($($type:ty as $number:ty: $load:expr, $store:expr;)*) => {$(
        impl Stored<$number> for $type {
            fn load(self) -> $number {
                $load(self)
            }

            fn store(value: $number) -> $type {
                $store(value)
            }
        }
    )*};
}
stored! {
    f32 as f32: |x| x, |x| x;
    i32 as i32: |x| x, |x| x;
    u32 as u32: |x| x, |x| x;
    f16 as f32: f16::to_f32, f16::from_f32;
    bf16 as f32: bf16::to_f32, bf16::from_f32;
}

/// What is carried along a row.
trait Accumulator<N>: Copy + Send + Sync {
    fn identity() -> Self;
    fn add(self, x: N) -> Self;
    fn join(self, later: Self) -> Self;
    fn finish(self) -> N;
}

/// A sum: of floats in f64, so that its error does not grow with the row.
#[derive(Clone, Copy)]
struct Sum<N: Number>(N::Wide);

impl<N: Number> Accumulator<N> for Sum<N> {
    fn identity() -> Self {
        Sum(N::Wide::default())
    }

    fn add(self, x: N) -> Self {
        Sum(N::wide_plus(self.0, x.widen()))
    }

    fn join(self, later: Self) -> Self {
        Sum(N::wide_plus(self.0, later.0))
    }

    fn finish(self) -> N {
        N::narrow(self.0)
    }
}

/// A minimum or maximum, as a key.
#[derive(Clone, Copy)]
struct Extreme<const LARGEST: bool>(i32);

impl<N: Number, const LARGEST: bool> Accumulator<N> for Extreme<LARGEST> {
    fn identity() -> Self {
        Extreme(if LARGEST { N::KEYS.0 } else { N::KEYS.1 })
    }

    fn add(self, x: N) -> Self {
        let nan = if LARGEST { i32::MAX } else { i32::MIN };
        let key = if x.is_nan() { nan } else { x.key() };
        Accumulator::<N>::join(self, Extreme(key))
    }

    fn join(self, later: Self) -> Self {
        Extreme(if LARGEST {
            self.0.max(later.0)
        } else {
            self.0.min(later.0)
        })
    }

    fn finish(self) -> N {
        N::from_key(self.0)
    }
}

fn of_kind<N: Number, S: Stored<N>>(
    kind: Kind,
    x: &[S],
    rows: &Rows,
    direction: Direction,
) -> Vec<S> {
    match kind {
        Kind::Sum => of_rows::<N, S, Sum<N>>(x, rows, direction),
        Kind::Min => of_rows::<N, S, Extreme<false>>(x, rows, direction),
        Kind::Max => of_rows::<N, S, Extreme<true>>(x, rows, direction),
    }
}

fn of_rows<N: Number, S: Stored<N>, A: Accumulator<N>>(
    x: &[S],
    rows: &Rows,
    direction: Direction,
) -> Vec<S> {
    let mut y = vec![S::default(); x.len()];
    if x.is_empty() {
        return y;
    }
    let slab = rows.columns * rows.inner;
    if rows.inner > 1 {
        // Columns side by side, so that memory is read in its own order.
        parallel::chunks_mut(&mut y, slab, |i, y| {
            let x = &x[i * slab..(i + 1) * slab];
            let mut carries = vec![A::identity(); rows.inner];
            for step in 0..rows.columns {
                let row = if direction.reverse {
                    rows.columns - 1 - step
                } else {
                    step
                };
                let at = row * rows.inner;
                for (c, carry) in carries.iter_mut().enumerate() {
                    let before = *carry;
                    *carry = before.add(x[at + c].load());
                    let result = if direction.exclusive { before } else { *carry };
                    y[at + c] = S::store(result.finish());
                }
            }
        });
    } else if slab <= 2 * CHUNK {
        parallel::chunks_mut(&mut y, slab, |i, y| {
            scan_chunk(&x[i * slab..(i + 1) * slab], y, A::identity(), direction);
        });
    } else {
        for (x, y) in x.chunks(slab).zip(y.chunks_mut(slab)) {
            long_row::<N, S, A>(x, y, direction);
        }
    }
    y
}

/// One long row: totals of its chunks on all cores, their prefixes, then the chunks.
fn long_row<N: Number, S: Stored<N>, A: Accumulator<N>>(
    x: &[S],
    y: &mut [S],
    direction: Direction,
) {
    let count = x.len().div_ceil(CHUNK);
    let totals = parallel::map(count, |i| {
        let chunk = &x[i * CHUNK..x.len().min((i + 1) * CHUNK)];
        // Several accumulators, so that additions need not wait for each other.
        let mut lanes = [A::identity(); 8];
        for elements in chunk.chunks(8) {
            for (lane, element) in lanes.iter_mut().zip(elements) {
                *lane = lane.add(element.load());
            }
        }
        lanes.into_iter().fold(A::identity(), A::join)
    });
    let mut prefixes = vec![A::identity(); count];
    let mut carry = A::identity();
    for step in 0..count {
        let i = if direction.reverse {
            count - 1 - step
        } else {
            step
        };
        prefixes[i] = carry;
        carry = carry.join(totals[i]);
    }
    parallel::chunks_mut(y, CHUNK, |i, y| {
        let from = i * CHUNK;
        scan_chunk(&x[from..from + y.len()], y, prefixes[i], direction);
    });
}

fn scan_chunk<N: Number, S: Stored<N>, A: Accumulator<N>>(
    x: &[S],
    y: &mut [S],
    before: A,
    direction: Direction,
) {
    let mut carry = before;
    let mut step = |x: &S, y: &mut S| {
        let before = carry;
        carry = before.add(x.load());
        let result = if direction.exclusive { before } else { carry };
        *y = S::store(result.finish());
    };
    if direction.reverse {
        x.iter().zip(y).rev().for_each(|(x, y)| step(x, y));
    } else {
        x.iter().zip(y).for_each(|(x, y)| step(x, y));
    }
}
