//! Problems to gate scans with.

use crate::dtype::DType;
use crate::gate::{Effort, Fill, Problem};
use crate::kernels::scan::operation::Kind;
use crate::spec::TensorSpec;

/// Numbers as scans usually meet them.
pub(super) fn usual(dtype: DType) -> Fill {
    if dtype.is_float() {
        Fill::NORMAL
    } else {
        Fill::Bits
    }
}

/// Shapes around the edges of teams, tiles and splits, with the axis.
fn shapes(effort: Effort) -> Vec<(Vec<usize>, i64)> {
    let mut shapes: Vec<(&[usize], i64)> = vec![(&[17, 257], -1), (&[17_000], 0)];
    if effort != Effort::Quick {
        shapes.extend::<[(&[usize], i64); 10]>([
            (&[1], 0),
            (&[2], 0),
            (&[4099], 0),
            (&[70_001], 0),
            (&[300, 3], 1),
            (&[70, 36], 1),
            (&[3, 1025], 1),
            (&[3, 10_001], 1),
            (&[3, 20_484], 1),
            (&[7, 5, 3], 1),
        ]);
    }
    if effort >= Effort::Standard {
        shapes.extend::<[(&[usize], i64); 12]>([
            (&[3], 0),
            (&[4], 0),
            (&[63], 0),
            (&[65], 0),
            (&[1023], 0),
            (&[4096], 0),
            (&[4097], 0),
            (&[16_384], 0),
            (&[16_385], 0),
            (&[70_000, 3], 1),
            (&[3, 9, 4], 0),
            (&[2, 3, 4, 5], -2),
        ]);
    }
    let owned = |(shape, axis): (&[usize], i64)| (shape.to_vec(), axis);
    let mut shapes: Vec<_> = shapes.into_iter().map(owned).collect();
    if effort == Effort::Full {
        shapes.extend((1..=70).map(|columns| (vec![3, columns], 1)));
        shapes.extend([
            (vec![(1 << 24) + 1], 0),
            (vec![3, 1_000_003], 1),
            (vec![1_000_003, 3], 0),
        ]);
    }
    shapes
}

pub(super) fn problems(kind: Kind, dtype: DType, effort: Effort) -> Vec<Problem> {
    let fill = usual(dtype);
    let named = |shape: &[usize], axis: i64| {
        let extents: Vec<String> = shape.iter().map(usize::to_string).collect();
        format!("{} axis={axis}", extents.join("x"))
    };
    let plain = |shape: Vec<usize>, axis: i64| {
        let problem = Problem::new(named(&shape, axis));
        problem
            .input(dtype, shape, fill.clone())
            .param("axis", axis)
    };
    let reversed = |shape: &[usize], axis: i64| {
        let mut problem = plain(shape.to_vec(), axis).param("reverse", true);
        problem.name += " reverse";
        problem
    };
    let mut problems: Vec<Problem> = shapes(effort)
        .into_iter()
        .map(|(shape, axis)| plain(shape, axis))
        .collect();
    if effort == Effort::Quick {
        return problems;
    }
    problems.extend([
        reversed(&[17_001], 0),
        reversed(&[17_004], 0),
        reversed(&[40, 33], 1),
    ]);
    if effort == Effort::Probe {
        return problems;
    }
    let view =
        |name: &str, spec: TensorSpec, offset| Problem::new(name).view(spec, fill.clone(), offset);
    problems.extend([
        reversed(&[5, 20_000], 1),
        reversed(&[6, 5, 4], 1),
        view(
            "transposed view",
            TensorSpec::new(dtype, [33, 20]).strided([1, 35]),
            0,
        ),
        view(
            "unaligned view",
            TensorSpec::new(dtype, [9, 31]).unaligned(),
            5,
        )
        .unaligned_outputs(),
        Problem::new("one buffer")
            .input(dtype, [5, 12], fill.clone())
            .shared_buffers(),
        Problem::new("one buffer, split")
            .input(dtype, [17_001], fill.clone())
            .shared_buffers(),
        Problem::new("empty").input(dtype, [0, 5], fill.clone()),
        Problem::new("empty rows").input(dtype, [5, 0], fill.clone()),
        Problem::new("zeros")
            .input(dtype, [100_000], Fill::Constant(0.0))
            .zeros_expected(),
        Problem::new("small integers")
            .input(dtype, [18_001], Fill::Integers { low: -3, high: 3 })
            .zeros_expected(),
        Problem::new("equal numbers").input(dtype, [4, 130], Fill::Constant(1.0)),
    ]);
    if dtype.is_float() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        let cycle = |name: &str, values: &[f64]| {
            Problem::new(name)
                .input(dtype, [3, 33], Fill::Cycle(values.to_vec()))
                .zeros_expected()
        };
        let late = |value: f64| {
            let at = |i: usize| if i == 4100 { value } else { (i % 7) as f64 };
            Fill::Cycle((0..17_001).map(at).collect())
        };
        problems.extend([
            cycle("+inf only", &[inf]),
            cycle("-inf only", &[-inf]),
            cycle("both zeros", &[0.0, -0.0, -0.0]),
            cycle("both infinities", &[1.0, 2.0, 3.0, inf, -2.0, -inf, 5.0]),
            Problem::new("NaN late").input(dtype, [17_001], late(nan)),
            Problem::new("inf late").input(dtype, [17_001], late(inf)),
            cycle("cancelling pairs", &[1024.0, 1.0, -1024.0, 0.25]),
            Problem::new("magnitudes").input(
                dtype,
                [2, 4500],
                Fill::Magnitudes {
                    low: -30.0,
                    high: 4.5,
                },
            ),
        ]);
    }
    if kind == Kind::Sum && dtype != DType::F16 {
        problems.push(Problem::new("ones").input(dtype, [200_003], Fill::Constant(1.0)));
    }
    problems
}
