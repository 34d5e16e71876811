//! All cores, where the feature `parallel` is on; and sums whose error stays small.

/// Below this many elements a thread is not worth its start.
#[cfg(feature = "parallel")]
const GRAIN: usize = 1 << 14;

/// Calls `f` with each chunk of `size` elements and its number, in any order.
pub(crate) fn chunks_mut<T: Send>(data: &mut [T], size: usize, f: impl Fn(usize, &mut [T]) + Sync) {
    #[cfg(feature = "parallel")]
    if data.len() > GRAIN {
        use rayon::prelude::*;
        let group = (GRAIN / size).max(1);
        data.par_chunks_mut(size * group)
            .enumerate()
            .for_each(|(g, group_data)| {
                group_data
                    .chunks_mut(size)
                    .enumerate()
                    .for_each(|(i, chunk)| f(g * group + i, chunk));
            });
        return;
    }
    data.chunks_mut(size)
        .enumerate()
        .for_each(|(i, chunk)| f(i, chunk));
}

/// Maps `f` over `0..n`, in order, where each is worth a thread's while.
pub(crate) fn map_coarse<T: Send>(n: usize, f: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    #[cfg(feature = "parallel")]
    if n > 1 {
        use rayon::prelude::*;
        return (0..n).into_par_iter().map(f).collect();
    }
    (0..n).map(f).collect()
}

/// Sorts stably.
pub(crate) fn sort_by<T: Send>(
    items: &mut [T],
    compare: impl Fn(&T, &T) -> std::cmp::Ordering + Sync,
) {
    #[cfg(feature = "parallel")]
    if items.len() > GRAIN {
        use rayon::prelude::*;
        return items.par_sort_by(compare);
    }
    items.sort_by(compare);
}

/// Maps `f` over `0..n`, in order.
pub(crate) fn map<T: Send>(n: usize, f: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    #[cfg(feature = "parallel")]
    if n > GRAIN {
        use rayon::prelude::*;
        return (0..n)
            .into_par_iter()
            .with_min_len(GRAIN / 4)
            .map(f)
            .collect();
    }
    (0..n).map(f).collect()
}

/// Maps `f` over a few large pieces of work, in order.
pub(crate) fn map_pieces<T: Send, R: Send>(
    pieces: Vec<T>,
    f: impl Fn(T) -> R + Sync + Send,
) -> Vec<R> {
    #[cfg(feature = "parallel")]
    if pieces.len() > 1 {
        use rayon::prelude::*;
        return pieces.into_par_iter().map(f).collect();
    }
    pieces.into_iter().map(f).collect()
}

/// How many threads there are to share work.
pub(crate) fn threads() -> usize {
    #[cfg(feature = "parallel")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "parallel"))]
    1
}

/// Both results, on two threads where `parallel` holds.
pub(crate) fn join_if<A: Send, B: Send>(
    parallel: bool,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    #[cfg(feature = "parallel")]
    if parallel {
        return rayon::join(a, b);
    }
    let _ = parallel;
    (a(), b())
}

/// Runs a loop compiled for the widest instruction set that the processor has. What it
/// calls must be `#[inline(always)]` to be compiled so too. Rounds as any other: nothing
/// is fused or reordered.
#[inline(always)]
pub(crate) fn vectorised<T>(f: impl FnOnce() -> T) -> T {
    pulp::Arch::new().dispatch(f)
}

/// The sum in f32: 16 lanes over blocks of 1024, then pairs of blocks, so that
/// no element takes part in more than 64 + 4 + log2(n / 1024) additions.
pub(crate) fn sum(values: &[f32]) -> f32 {
    if values.len() <= 1024 {
        return vectorised(
            #[inline(always)]
            || sum_block(values),
        );
    }
    let blocks = values.len().div_ceil(1024);
    let (left, right) = values.split_at(blocks.div_ceil(2) * 1024);
    sum(left) + sum(right)
}

/// As [`sum`], of at most 1024 numbers.
#[inline(always)]
pub(crate) fn sum_block(values: &[f32]) -> f32 {
    let mut lanes = [0.0f32; 16];
    let (chunks, rest) = values.as_chunks::<16>();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += value;
        }
    }
    for (lane, value) in lanes.iter_mut().zip(rest) {
        *lane += value;
    }
    tree(&mut lanes)
}

/// The sum of lanes, halves first. Apart from the loop before it: inlined there, the
/// compiler keeps the lanes in pairs, for the sake of the last addition.
#[inline(never)]
fn tree(lanes: &mut [f32; 16]) -> f32 {
    let mut width = 8;
    while width > 0 {
        for i in 0..width {
            lanes[i] += lanes[i + width];
        }
        width /= 2;
    }
    lanes[0]
}
