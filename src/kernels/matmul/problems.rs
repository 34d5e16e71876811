//! Problems that products are gated with.

use crate::dtype::DType;
use crate::gate::{Effort, Fill, Problem};
use crate::kernels::matmul::epilogue::Epilogue;
use crate::spec::TensorSpec;

/// Small whole numbers: their sums stay exact, so that results must be right to the bit.
const WHOLE: Fill = Fill::Integers { low: -4, high: 4 };

/// [m, k] · [k, n], as stored under these transpositions.
fn factors(
    name: impl Into<String>,
    dtype: DType,
    [m, k, n]: [usize; 3],
    [trans_a, trans_b]: [bool; 2],
    fill: Fill,
) -> Problem {
    let a = if trans_a { [k, m] } else { [m, k] };
    let b = if trans_b { [n, k] } else { [k, n] };
    Problem::new(name)
        .input(dtype, a, fill.clone())
        .input(dtype, b, fill)
        .param("trans_a", trans_a)
        .param("trans_b", trans_b)
}

fn normal(dtype: DType, extents: [usize; 3]) -> Problem {
    let [m, k, n] = extents;
    factors(
        format!("{m}x{k}x{n}"),
        dtype,
        extents,
        [false; 2],
        Fill::NORMAL,
    )
}

fn exact(dtype: DType, extents: [usize; 3], trans: [bool; 2]) -> Problem {
    let [m, k, n] = extents;
    let name = format!(
        "{m}x{k}x{n}{}{} whole",
        if trans[0] { " trans_a" } else { "" },
        if trans[1] { " trans_b" } else { "" }
    );
    factors(name, dtype, extents, trans, WHOLE)
}

const TRANSPOSITIONS: [[bool; 2]; 4] = [[false, false], [false, true], [true, false], [true, true]];

/// n × n, as benches time it.
pub(super) fn square(dtype: DType, n: usize) -> Problem {
    normal(dtype, [n, n, n])
}

/// What probes run: around the edges of every tile, all transpositions.
fn probe(dtype: DType) -> Vec<Problem> {
    let mut problems = Vec::new();
    for trans in TRANSPOSITIONS {
        // Whole quads in all extents; then in none.
        problems.push(exact(dtype, [36, 20, 40], trans));
        problems.push(exact(dtype, [67, 35, 33], trans));
    }
    problems.extend([
        exact(dtype, [1, 1, 1], [false; 2]),
        exact(dtype, [32, 16, 32], [false; 2]),
        exact(dtype, [33, 17, 31], [false; 2]),
        exact(dtype, [129, 15, 127], [false; 2]),
        exact(dtype, [127, 33, 132], [true; 2]),
        exact(dtype, [5, 2049, 6], [false, true]),
        normal(dtype, [65, 300, 64]),
    ]);
    problems
}

/// The forward pass's problems.
pub(super) fn forward(dtype: DType, effort: Effort) -> Vec<Problem> {
    let quick = [
        normal(dtype, [17, 33, 20]),
        exact(dtype, [35, 18, 37], [true, false]),
    ];
    if effort == Effort::Quick {
        return quick.into();
    }
    let mut problems = probe(dtype);
    if effort == Effort::Probe {
        return problems;
    }
    problems.extend(quick);
    problems.extend(extents(dtype));
    problems.extend(batches(dtype));
    problems.extend(finishes(dtype));
    problems.extend(layouts(dtype));
    problems.extend(numbers(dtype));
    if effort == Effort::Full {
        problems.extend([
            normal(dtype, [512, 512, 512]),
            exact(dtype, [512, 512, 512], [true, true]),
            exact(dtype, [500, 64, 257], [false; 2]),
            exact(dtype, [257, 384, 257], [false, true]),
            exact(dtype, [1024, 300, 384], [false; 2]),
            Problem::new("[1,8,512,512] x [1,8,512,32]")
                .input(dtype, [1, 8, 512, 512], WHOLE)
                .input(dtype, [1, 8, 512, 32], WHOLE),
        ]);
    }
    problems
}

fn extents(dtype: DType) -> Vec<Problem> {
    let mut problems: Vec<Problem> = [
        [1, 300, 129],
        [129, 300, 1],
        [2, 7, 3],
        [64, 64, 64],
        [63, 65, 66],
        [31, 1, 37],
        [1, 4097, 1],
        [70, 257, 67],
        [8, 1024, 8],
    ]
    .map(|extents| normal(dtype, extents))
    .into();
    problems.extend([
        normal(dtype, [0, 5, 3]),
        normal(dtype, [4, 5, 0]),
        normal(dtype, [3, 0, 5]).zeros_expected(),
        normal(dtype, [0, 0, 0]),
    ]);
    problems
}

fn batches(dtype: DType) -> Vec<Problem> {
    let batch = |a: &[usize], b: &[usize]| {
        Problem::new(format!("{a:?} x {b:?}"))
            .input(dtype, a, WHOLE)
            .input(dtype, b, WHOLE)
    };
    vec![
        batch(&[5, 33, 70], &[5, 70, 19]),
        batch(&[3, 17, 8], &[8, 12]),
        batch(&[9, 7], &[4, 7, 5]),
        batch(&[2, 1, 9, 16], &[3, 16, 20]),
        batch(&[2, 1, 2, 1, 2, 3, 4], &[1, 3, 1, 2, 1, 4, 5]),
        batch(&[0, 3, 4], &[4, 5]),
        batch(&[2, 1, 3, 5], &[1, 0, 5, 2]),
        batch(&[40, 5, 12], &[1, 12, 6]),
    ]
}

fn finishes(dtype: DType) -> Vec<Problem> {
    let product = |name: &str, extents: [usize; 3]| {
        factors(name, dtype, extents, [false, true], Fill::NORMAL)
    };
    let mut problems = vec![
        product("alpha", [20, 40, 33]).param("alpha", -0.75),
        factors(
            "alpha 0 hides NaN",
            dtype,
            [4, 8, 4],
            [false, true],
            Fill::Constant(f64::NAN),
        )
        .input(dtype, [4, 4], WHOLE)
        .param("alpha", 0.0)
        .param("beta", 2.0),
        product("alpha beta c", [33, 40, 28])
            .input(dtype, [33, 28], Fill::NORMAL)
            .param("alpha", 0.5)
            .param("beta", -1.5),
        product("c of a row", [33, 40, 29])
            .input(dtype, [29], Fill::NORMAL)
            .param("beta", 1.0),
        product("c of a column", [33, 40, 29])
            .input(dtype, [33, 1], Fill::NORMAL)
            .param("beta", 1.0),
        product("c of NaN, beta 0", [9, 10, 12]).input(dtype, [9, 12], Fill::Constant(f64::NAN)),
        product("bias", [18, 24, 40])
            .without()
            .input(dtype, [40], Fill::NORMAL),
        product("nothing but c and bias", [6, 0, 11])
            .input(dtype, [6, 11], Fill::NORMAL)
            .input(dtype, [11], Fill::NORMAL)
            .param("beta", 0.5),
        Problem::new("batches, c and bias")
            .input(dtype, [3, 5, 8], WHOLE)
            .input(dtype, [8, 6], WHOLE)
            .input(dtype, [3, 1, 6], WHOLE)
            .input(dtype, [6], WHOLE)
            .param("alpha", 2.0)
            .param("beta", -1.0),
        Problem::new("batches with one c")
            .input(dtype, [3, 5, 8], WHOLE)
            .input(dtype, [3, 8, 6], WHOLE)
            .input(dtype, [5, 6], WHOLE)
            .param("beta", 3.0),
    ];
    for &epilogue in Epilogue::ALL {
        problems.push(
            product(epilogue.name(), [21, 30, 36])
                .without()
                .input(dtype, [36], Fill::NORMAL)
                .param("alpha", 0.5)
                .param("epilogue", epilogue.name()),
        );
    }
    // Odd rows of packed elements, and slices, finish in a pass of their own.
    problems.push(
        product("finished apart", [3, 2100, 7])
            .input(dtype, [7], Fill::NORMAL)
            .input(dtype, [7], Fill::NORMAL)
            .param("alpha", 0.03125)
            .param("beta", 1.0)
            .param("epilogue", "gelu_erf"),
    );
    problems
}

fn layouts(dtype: DType) -> Vec<Problem> {
    let views = |name: &str, a: TensorSpec, b: TensorSpec, offset: usize| {
        Problem::new(name)
            .view(a, WHOLE, offset)
            .view(b, WHOLE, offset)
    };
    let spec = |shape: &[usize]| TensorSpec::new(dtype, shape);
    vec![
        views(
            "transposed views",
            spec(&[34, 20]).strided([1, 34]),
            spec(&[20, 24]).strided([1, 20]),
            0,
        ),
        views(
            "narrowed views",
            spec(&[30, 20]).strided([25, 1]).unaligned(),
            spec(&[20, 24]).strided([28, 1]).unaligned(),
            3,
        ),
        views(
            "steps of two",
            spec(&[12, 10]).strided([40, 2]),
            spec(&[10, 14]).strided([60, 2]),
            0,
        ),
        views(
            "reversed rows and columns",
            spec(&[12, 10]).strided([-10, 1]),
            spec(&[10, 14]).strided([14, -1]),
            0,
        ),
        views(
            "heads of attention",
            spec(&[2, 3, 9, 8]).strided([9 * 24, 8, 24, 1]),
            spec(&[2, 3, 8, 9]).strided([9 * 24, 8, 1, 24]),
            0,
        ),
        views(
            "one row repeated",
            spec(&[7, 12]).strided([0, 1]),
            spec(&[5, 12, 4]).strided([0, 4, 1]),
            0,
        ),
        views(
            "unaligned views",
            spec(&[11, 12]).unaligned(),
            spec(&[12, 15]).unaligned(),
            5,
        )
        .unaligned_outputs(),
        Problem::new("strided c and bias")
            .input(dtype, [6, 8], WHOLE)
            .input(dtype, [8, 10], WHOLE)
            .view(spec(&[6, 10]).strided([-30, 3]), WHOLE, 0)
            .view(spec(&[10]).strided([2]).unaligned(), WHOLE, 1)
            .param("beta", 2.0),
        Problem::new("one buffer")
            .input(dtype, [20, 12], WHOLE)
            .input(dtype, [12, 16], WHOLE)
            .input(dtype, [20, 16], WHOLE)
            .param("beta", 1.0)
            .shared_buffers(),
        Problem::new("one buffer, odd rows")
            .input(dtype, [5, 7], WHOLE)
            .input(dtype, [7, 9], WHOLE)
            .shared_buffers()
            .unaligned_outputs(),
    ]
}

fn numbers(dtype: DType) -> Vec<Problem> {
    let product = |name: &str, a: Fill, b: Fill| {
        Problem::new(name)
            .input(dtype, [9, 20], a)
            .input(dtype, [20, 12], b)
    };
    let spread = |low, high| Fill::Magnitudes { low, high };
    vec![
        product("huge and tiny", spread(-4.0, 4.0), spread(-4.0, 4.0)),
        product("vanishing", spread(-30.0, -20.0), spread(-25.0, -15.0)).zeros_expected(),
        product(
            "cancelling",
            Fill::Cycle(vec![1e3, -1e3, 1.0]),
            Fill::NORMAL,
        ),
        product(
            "NaN and infinities",
            Fill::Cycle(
                (0..180)
                    .map(|i| match i {
                        3 => f64::NAN,
                        45 => f64::INFINITY,
                        90 => f64::NEG_INFINITY,
                        _ => 1.0 + i as f64 / 64.0,
                    })
                    .collect(),
            ),
            Fill::Uniform {
                low: 0.5,
                high: 1.0,
            },
        ),
    ]
}

/// The gradients' problems.
pub(super) fn backward(dtype: DType, effort: Effort) -> Vec<Problem> {
    let problem = |[m, k, n]: [usize; 3], trans: [bool; 2]| {
        exact(dtype, [m, k, n], trans).input(dtype, [m, n], WHOLE)
    };
    let batch = |a: &[usize], b: &[usize], y: &[usize]| {
        Problem::new(format!("{a:?} x {b:?}"))
            .input(dtype, a, WHOLE)
            .input(dtype, b, WHOLE)
            .input(dtype, y, WHOLE)
    };
    let mut problems = vec![
        problem([17, 33, 20], [false; 2]),
        batch(&[3, 5, 8], &[8, 4], &[3, 5, 4]),
    ];
    if effort == Effort::Quick {
        return problems;
    }
    for trans in TRANSPOSITIONS {
        problems.push(problem([37, 10, 23], trans));
        problems.push(problem([40, 68, 36], trans));
    }
    problems.push(batch(&[2, 1, 5, 7], &[3, 7, 4], &[2, 3, 5, 4]));
    if effort == Effort::Probe {
        return problems;
    }
    problems.extend([
        normal(dtype, [65, 130, 31]).input(dtype, [65, 31], Fill::NORMAL),
        factors("alpha", dtype, [20, 12, 9], [true, false], Fill::NORMAL)
            .input(dtype, [20, 9], Fill::NORMAL)
            .param("alpha", -0.3),
        problem([4, 0, 5], [false; 2]),
        problem([0, 4, 5], [false; 2]).zeros_expected(),
        problem([3, 4, 0], [true, true]).zeros_expected(),
        batch(&[1, 3, 4], &[0, 4, 5], &[0, 3, 5]).zeros_expected(),
        batch(
            &[2, 1, 2, 1, 2, 3, 4],
            &[1, 3, 1, 2, 1, 4, 5],
            &[2, 3, 2, 2, 2, 3, 5],
        ),
        batch(&[3, 4], &[6, 4, 5], &[6, 3, 5]),
        Problem::new("strided views")
            .view(TensorSpec::new(dtype, [14, 9]).strided([1, 14]), WHOLE, 0)
            .view(TensorSpec::new(dtype, [9, 11]).unaligned(), WHOLE, 3)
            .view(TensorSpec::new(dtype, [14, 11]).strided([11, -1]), WHOLE, 0)
            .unaligned_outputs(),
    ]);
    problems
}
