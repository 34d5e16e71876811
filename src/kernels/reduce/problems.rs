//! Problems to gate reductions with.

use crate::dtype::DType;
use crate::gate::{Effort, Fill, Problem};
use crate::kernels::reduce::forward::Kind;
use crate::spec::TensorSpec;

/// Numbers as the reduction usually meets them, whose result is not trivial.
pub(crate) fn usual(kind: Kind, dtype: DType) -> Fill {
    match (kind, dtype.is_float()) {
        // Products neither vanish nor overflow, and keep their odd bits in integers.
        (Kind::Prod, true) => Fill::Uniform {
            low: 0.9,
            high: 1.11,
        },
        (Kind::Prod, false) => Fill::Cycle(vec![3.0, 5.0, 1.0, 7.0, 11.0, 1.0, 1.0]),
        (Kind::Var, _) => Fill::Normal {
            mean: 3.0,
            deviation: 2.0,
        },
        (_, true) => Fill::NORMAL,
        (_, false) => Fill::Bits,
    }
}

fn named(shape: &[usize], axes: &[i64]) -> String {
    let extents: Vec<String> = shape.iter().map(usize::to_string).collect();
    let axes: Vec<String> = axes.iter().map(i64::to_string).collect();
    match axes.is_empty() {
        true => extents.join("x"),
        false => format!("{} axes={}", extents.join("x"), axes.join(",")),
    }
}

/// The shapes of every effort: whole tensors, rows, columns and scattered axes
/// around the edges of teams, splits and quads.
fn shapes(effort: Effort) -> Vec<(Vec<usize>, Vec<i64>)> {
    let mut shapes: Vec<(&[usize], &[i64])> = vec![(&[17, 257], &[-1]), (&[50, 12], &[0])];
    if effort != Effort::Quick {
        // Teams of 1, 2, …, 256; two splits; a row per workgroup; quads and single columns, split.
        shapes.extend::<[(&[usize], &[i64]); 12]>([
            (&[1], &[]),
            (&[2], &[]),
            (&[8193], &[]),
            (&[70_001], &[]),
            (&[1000, 3], &[1]),
            (&[300, 31], &[1]),
            (&[9, 1025], &[1]),
            (&[3, 8196], &[1]),
            (&[700, 5], &[0]),
            (&[3, 1100, 8], &[1]),
            (&[2, 40_000, 3], &[1]),
            (&[5, 6, 7], &[0, 2]),
        ]);
    }
    if effort >= Effort::Standard {
        shapes.extend::<[(&[usize], &[i64]); 15]>([
            (&[], &[]),
            (&[3], &[]),
            (&[4], &[0]),
            (&[63], &[]),
            (&[1023], &[]),
            (&[8191], &[]),
            (&[8192], &[]),
            (&[16_385], &[-1]),
            (&[7, 1, 5], &[1]),
            (&[1, 5, 1], &[0, 2]),
            (&[70_000, 3], &[1]),
            (&[33, 2, 3, 4], &[0, 1]),
            (&[4, 3, 2, 5], &[-3, -1]),
            (&[16, 4], &[0]),
            (&[513, 4], &[0]),
        ]);
    }
    let owned = |(shape, axes): (&[usize], &[i64])| (shape.to_vec(), axes.to_vec());
    let mut shapes: Vec<_> = shapes.into_iter().map(owned).collect();
    if effort == Effort::Full {
        shapes.extend((1..=70).map(|columns| (vec![3, columns], vec![1])));
        shapes.extend((1..=20).map(|columns| (vec![70, columns], vec![0])));
        shapes.extend([
            (vec![(1 << 24) + 1], vec![]),
            (vec![3, 1_000_003], vec![1]),
            (vec![1_000_003, 3], vec![0]),
            (vec![2048, 2048], vec![0]),
        ]);
    }
    shapes
}

/// Problems of a forward pass.
pub(super) fn forward(kind: Kind, dtype: DType, effort: Effort) -> Vec<Problem> {
    let fill = usual(kind, dtype);
    let of = |(shape, axes): (Vec<usize>, Vec<i64>)| {
        let problem = Problem::new(named(&shape, &axes));
        let problem = problem
            .input(dtype, shape, fill.clone())
            .param("axes", axes);
        // The only index there is.
        if kind.is_index() {
            problem.zeros_expected()
        } else {
            problem
        }
    };
    let mut problems: Vec<Problem> = shapes(effort).into_iter().map(of).collect();
    if effort <= Effort::Quick {
        return problems;
    }
    let view =
        |name: &str, spec: TensorSpec, offset| Problem::new(name).view(spec, fill.clone(), offset);
    problems.extend([
        view(
            "transposed view axes=1",
            TensorSpec::new(dtype, [33, 20]).strided([1, 35]),
            0,
        )
        .param("axes", vec![1i64]),
        view(
            "reversed view",
            TensorSpec::new(dtype, [301]).strided([-2]),
            0,
        ),
        view(
            "unaligned view axes=1",
            TensorSpec::new(dtype, [9, 31]).unaligned(),
            5,
        )
        .param("axes", vec![1i64])
        .unaligned_outputs(),
        Problem::new("one buffer axes=0")
            .input(dtype, [5, 12], fill.clone())
            .param("axes", vec![0i64])
            .shared_buffers(),
        Problem::new("one buffer axes=1")
            .input(dtype, [5, 13], fill.clone())
            .param("axes", vec![1i64])
            .shared_buffers(),
        Problem::new("keepdims axes=0,2")
            .input(dtype, [2, 3, 4], fill.clone())
            .param("axes", vec![0i64, 2])
            .param("keepdims", true),
        Problem::new("no results")
            .input(dtype, [0, 5], fill.clone())
            .param("axes", vec![1i64]),
    ]);
    problems.extend(special(kind, dtype));
    problems
}

/// Contents that other libraries get wrong.
fn special(kind: Kind, dtype: DType) -> Vec<Problem> {
    let rows = |name: &str, columns: usize, fill: Fill| {
        Problem::new(name)
            .input(dtype, [5, columns], fill)
            .param("axes", vec![1i64])
            .zeros_expected()
    };
    let mut problems = Vec::new();
    // Sums of small integers are exact in f32, and so is what f16 and bf16 hold of them.
    let exact = Fill::Integers { low: -3, high: 3 };
    problems.push(rows("small integers", 997, exact.clone()));
    problems.push(
        Problem::new("small integers axes=0")
            .input(dtype, [997, 5], exact)
            .param("axes", vec![0i64])
            .zeros_expected(),
    );
    problems.push(rows("equal numbers", 130, Fill::Constant(1.0)));
    let nothing = |shape: [usize; 2], axis: i64| {
        Problem::new("nothing to reduce")
            .input(dtype, shape, Fill::Constant(0.0))
            .param("axes", vec![axis])
            .zeros_expected()
    };
    if !matches!(kind, Kind::Min | Kind::Max) && !kind.is_index() {
        problems.extend([nothing([5, 0], 1), nothing([0, 5], 0)]);
    }
    if !dtype.is_float() {
        return problems;
    }
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let cycle = |name: &str, values: &[f64]| rows(name, 33, Fill::Cycle(values.to_vec()));
    problems.extend([
        cycle("+inf only", &[inf]),
        cycle("-inf only", &[-inf]),
        cycle("both zeros", &[0.0, -0.0, -0.0]),
        cycle("some -inf", &[1.0, -inf, -2.0]),
        cycle("both infinities", &[1.0, inf, -2.0, -inf]),
        rows(
            "NaN in some rows",
            8,
            Fill::Cycle(
                (0..40)
                    .map(|i| {
                        if i / 8 % 2 == 0 || i % 5 != 0 {
                            i as f64
                        } else {
                            nan
                        }
                    })
                    .collect(),
            ),
        ),
        // Quiet, signalling and negative NaN, by their upper bits.
        rows(
            "NaN bits",
            9,
            Fill::CycleBits(match dtype {
                DType::F32 => vec![0x3f80_0000, 0xffc0_0001, 0x7f80_0001, 0xbf80_0000],
                DType::F16 => vec![0x3c00, 0xfe01, 0x7c01, 0xbc00],
                _ => vec![0x3f80, 0xffc1, 0x7f81, 0xbf80],
            }),
        ),
        cycle("cancelling pairs", &[1024.0, 1.0, -1024.0, 0.25]),
        rows(
            "huge mean, small variance",
            1030,
            Fill::Normal {
                mean: 1000.0,
                deviation: 1e-3,
            },
        ),
        rows(
            "magnitudes",
            257,
            Fill::Magnitudes {
                low: -30.0,
                high: 4.5,
            },
        ),
    ]);
    if dtype == DType::F16 {
        // Sums beyond 65504 on the way to results within it.
        problems.push(rows(
            "large numbers",
            64,
            Fill::Cycle(vec![60000.0, -59000.0]),
        ));
    }
    problems
}

/// Problems of a backward pass.
pub(super) fn backward(kind: Kind, dtype: DType, effort: Effort) -> Vec<Problem> {
    let fill = usual(kind, dtype);
    let of = |name: String, shape: &[usize], axes: &[i64], fill: Fill| {
        let kept = |(i, &d): (usize, &usize)| {
            let named = |a: &i64| (*a + shape.len() as i64) as usize % shape.len() == i;
            (!axes.is_empty() && !axes.iter().any(named)).then_some(d)
        };
        let result: Vec<usize> = shape.iter().enumerate().filter_map(kept).collect();
        let problem = Problem::new(name)
            .input(dtype, shape, fill)
            .input(dtype, result, Fill::NORMAL)
            .param("axes", axes.to_vec());
        // All but the extremes have gradient 0.
        if matches!(kind, Kind::Min | Kind::Max) {
            problem.zeros_expected()
        } else {
            problem
        }
    };
    let plain = |shape: &[usize], axes: &[i64]| of(named(shape, axes), shape, axes, fill.clone());
    let mut problems = vec![plain(&[17, 33], &[1])];
    if effort == Effort::Quick {
        return problems;
    }
    problems.extend([
        plain(&[1], &[]),
        plain(&[131, 6], &[0]),
        plain(&[3, 40, 8], &[1]),
        plain(&[8195], &[]),
        plain(&[3, 4, 5], &[0, 2]),
    ]);
    if effort == Effort::Probe {
        return problems;
    }
    problems.extend([
        plain(&[70_000, 3], &[1]),
        plain(&[2, 9001], &[-1]),
        plain(&[4, 1, 5], &[1]),
        of("nothing to reduce".into(), &[5, 0], &[1], fill.clone()),
        of("one zero in some rows".into(), &[6, 7], &[1], {
            let value = |i: usize| {
                if i.is_multiple_of(10) {
                    0.0
                } else {
                    1.0 + i as f64 / 64.0
                }
            };
            Fill::Cycle((0..42).map(value).collect())
        })
        .zeros_expected(),
        of("NaN in some rows".into(), &[6, 7], &[1], {
            let value = |i: usize| {
                if i.is_multiple_of(11) {
                    f64::NAN
                } else {
                    1.0 + i as f64 / 64.0
                }
            };
            Fill::Cycle((0..42).map(value).collect())
        }),
    ]);
    if matches!(kind, Kind::Min | Kind::Max) {
        let few = Fill::Integers { low: 0, high: 3 };
        problems.push(of("ties".into(), &[6, 50], &[1], few));
    }
    let shape = [9, 31];
    problems.push(
        Problem::new("unaligned view axes=1")
            .view(TensorSpec::new(dtype, shape).unaligned(), fill.clone(), 5)
            .input(dtype, [9], Fill::NORMAL)
            .param("axes", vec![1i64])
            .unaligned_outputs()
            .zeros_expected(),
    );
    problems
}
