//! The operators of reductions: a Value of elements, and how Values combine.

use crate::cpu::number::Number;

/// An associative operator over the elements of one result, in order.
pub(crate) trait Operator<N: Number>: Sync {
    type Value: Copy + Send + Sync;

    fn identity(&self) -> Self::Value;

    /// The Value of one element, the `index`th of its result. `first` is the 0th.
    fn lift(&self, x: N, index: usize, first: N) -> Self::Value;

    fn combine(&self, a: Self::Value, b: Self::Value) -> Self::Value;

    /// The Value of a block of elements, of which the `index`th comes first.
    #[inline(always)]
    fn block(&self, values: &[N], index: usize, first: N) -> Self::Value {
        let lifted = values
            .iter()
            .enumerate()
            .map(|(i, &x)| self.lift(x, index + i, first));
        lifted.fold(self.identity(), |a, b| self.combine(a, b))
    }
}

pub(crate) struct Sum;

impl<N: Number> Operator<N> for Sum {
    type Value = N;

    fn identity(&self) -> N {
        N::default()
    }

    #[inline(always)]
    fn lift(&self, x: N, _: usize, _: N) -> N {
        x
    }

    #[inline(always)]
    fn combine(&self, a: N, b: N) -> N {
        a.plus(b)
    }

    #[inline(always)]
    fn block(&self, values: &[N], _: usize, _: N) -> N {
        N::sum(values)
    }
}

pub(crate) struct Product;

impl<N: Number> Operator<N> for Product {
    type Value = N;

    fn identity(&self) -> N {
        N::ONE
    }

    #[inline(always)]
    fn lift(&self, x: N, _: usize, _: N) -> N {
        x
    }

    #[inline(always)]
    fn combine(&self, a: N, b: N) -> N {
        a.times(b)
    }

    #[inline(always)]
    fn block(&self, values: &[N], _: usize, _: N) -> N {
        let mut lanes = [N::ONE; 16];
        for chunk in values.chunks(16) {
            for (lane, &x) in lanes.iter_mut().zip(chunk) {
                *lane = lane.times(x);
            }
        }
        lanes.into_iter().fold(N::ONE, N::times)
    }
}

/// The smallest or the largest, as keys; NaN has the most extreme key of all.
pub(crate) struct Extreme {
    pub largest: bool,
}

impl Extreme {
    #[inline(always)]
    fn key<N: Number>(&self, x: N) -> i32 {
        let nan = if self.largest { i32::MAX } else { i32::MIN };
        if x.is_nan() { nan } else { x.key() }
    }
}

impl<N: Number> Operator<N> for Extreme {
    type Value = i32;

    fn identity(&self) -> i32 {
        if self.largest { N::KEYS.0 } else { N::KEYS.1 }
    }

    #[inline(always)]
    fn lift(&self, x: N, _: usize, _: N) -> i32 {
        self.key(x)
    }

    #[inline(always)]
    fn combine(&self, a: i32, b: i32) -> i32 {
        if self.largest { a.max(b) } else { a.min(b) }
    }

    // Without a choice inside, the loops compile to vector code.
    #[inline(always)]
    fn block(&self, values: &[N], _: usize, _: N) -> i32 {
        let identity = <Extreme as Operator<N>>::identity(self);
        match self.largest {
            true => values
                .iter()
                .fold(identity, |a, &x| a.max(Extreme { largest: true }.key(x))),
            false => values
                .iter()
                .fold(identity, |a, &x| a.min(Extreme { largest: false }.key(x))),
        }
    }
}

/// The index of the first extreme: an ordinal, lower the better, and the index.
pub(crate) struct Arg {
    pub largest: bool,
}

/// An ordinal that is lower the better, and equal for equals; NaN the lowest.
#[inline(always)]
fn ordinal<N: Number>(x: N, largest: bool) -> i32 {
    let ordinal = if largest { !x.ordinal() } else { x.ordinal() };
    if x.is_nan() { i32::MIN } else { ordinal }
}

impl<N: Number> Operator<N> for Arg {
    type Value = (i32, usize);

    fn identity(&self) -> (i32, usize) {
        (i32::MAX, usize::MAX)
    }

    #[inline(always)]
    fn lift(&self, x: N, index: usize, _: N) -> (i32, usize) {
        (ordinal(x, self.largest), index)
    }

    #[inline(always)]
    fn combine(&self, a: (i32, usize), b: (i32, usize)) -> (i32, usize) {
        a.min(b)
    }

    #[inline(always)]
    fn block(&self, values: &[N], index: usize, _: N) -> (i32, usize) {
        let best = match self.largest {
            true => values
                .iter()
                .fold(i32::MAX, |a, &x| a.min(ordinal(x, true))),
            false => values
                .iter()
                .fold(i32::MAX, |a, &x| a.min(ordinal(x, false))),
        };
        let at = values
            .iter()
            .position(|&x| ordinal(x, self.largest) == best);
        (best, at.map_or(usize::MAX, |i| index + i))
    }
}

/// Count, mean and sum of squared deviations of what elements are more than the
/// first, in two passes over a block and merged pairwise (Chan, Golub, LeVeque:
/// Updating formulae and a pairwise algorithm for computing sample variances, 1979).
pub(crate) struct Moments;

impl<N: Number> Operator<N> for Moments {
    type Value = [f32; 3];

    fn identity(&self) -> [f32; 3] {
        [0.0; 3]
    }

    fn lift(&self, x: N, _: usize, first: N) -> [f32; 3] {
        [1.0, x.to_f32() - first.to_f32(), 0.0]
    }

    fn combine(&self, a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
        if a[0] == 0.0 {
            return b;
        }
        if b[0] == 0.0 {
            return a;
        }
        let n = a[0] + b[0];
        let delta = b[1] - a[1];
        let share = b[0] / n;
        [
            n,
            a[1] + delta * share,
            (a[2] + b[2]) + delta * delta * (a[0] * share),
        ]
    }

    fn block(&self, values: &[N], _: usize, first: N) -> [f32; 3] {
        let mut relative = [0.0; crate::cpu::number::BLOCK];
        let relative = &mut relative[..values.len()];
        for (r, x) in relative.iter_mut().zip(values) {
            *r = x.to_f32() - first.to_f32();
        }
        let n = values.len() as f32;
        let mean = if values.is_empty() {
            0.0
        } else {
            f32::sum(relative) / n
        };
        relative
            .iter_mut()
            .for_each(|r| *r = (*r - mean) * (*r - mean));
        [n, mean, f32::sum(relative)]
    }
}

/// For the gradient of a product: the product of the factors that are not 0, and
/// how many are.
pub(crate) struct Factors;

impl<N: Number> Operator<N> for Factors {
    type Value = (f32, usize);

    fn identity(&self) -> (f32, usize) {
        (1.0, 0)
    }

    #[inline(always)]
    fn lift(&self, x: N, _: usize, _: N) -> (f32, usize) {
        match x.to_f32() {
            0.0 => (1.0, 1),
            x => (x, 0),
        }
    }

    #[inline(always)]
    fn combine(&self, a: (f32, usize), b: (f32, usize)) -> (f32, usize) {
        (a.0 * b.0, a.1 + b.1)
    }
}

/// For the gradients of minimum and maximum: the best ordinal, and how many
/// elements have it.
pub(crate) struct Ties {
    pub largest: bool,
}

impl Ties {
    pub fn is_best<N: Number>(&self, x: N, value: (i32, usize)) -> bool {
        ordinal(x, self.largest) == value.0
    }
}

impl<N: Number> Operator<N> for Ties {
    type Value = (i32, usize);

    fn identity(&self) -> (i32, usize) {
        (i32::MAX, 0)
    }

    #[inline(always)]
    fn lift(&self, x: N, _: usize, _: N) -> (i32, usize) {
        (ordinal(x, self.largest), 1)
    }

    #[inline(always)]
    fn combine(&self, a: (i32, usize), b: (i32, usize)) -> (i32, usize) {
        match a.0.cmp(&b.0) {
            std::cmp::Ordering::Less => a,
            std::cmp::Ordering::Equal => (a.0, a.1 + b.1),
            std::cmp::Ordering::Greater => b,
        }
    }
}
