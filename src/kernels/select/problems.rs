//! What compactions are gated with.

use crate::dtype::DType;
use crate::gate::{Effort, Fill, Problem};
use crate::kernels::select::What;
use crate::spec::TensorSpec;

/// A problem of this name and layout: elements, and a mask where one is taken.
fn problem(name: String, spec: TensorSpec, fills: [Fill; 2], what: What) -> Problem {
    let shape = spec.shape.clone();
    let [elements, mask] = fills;
    let problem = Problem::new(name).view(spec, elements, 0);
    match what.by_mask() {
        true => problem.input(DType::I32, shape, mask),
        false => problem.zeros_expected(),
    }
}

/// Elements that can be told apart, and for runs a few that repeat.
fn elements(what: What) -> Fill {
    match what.by_mask() {
        true => Fill::Bits,
        false => Fill::Integers { low: 1, high: 3 },
    }
}

/// `n` elements of which about one in two is selected, in no order.
pub(super) fn half(dtype: DType, n: usize, what: What) -> Problem {
    let fills = [elements(what), Fill::Mask(0.5)];
    problem(
        format!("{n} half"),
        TensorSpec::new(dtype, [n]),
        fills,
        what,
    )
}

pub(super) fn problems(dtype: DType, effort: Effort, what: What) -> Vec<Problem> {
    let dense = |name: &str, shape: &[usize], fills: [Fill; 2]| {
        problem(name.into(), TensorSpec::new(dtype, shape), fills, what)
    };
    let mut problems = vec![half(dtype, 5003, what)];
    if effort == Effort::Quick {
        return problems;
    }
    problems.extend([
        half(dtype, 1, what),
        half(dtype, 2048, what),
        half(dtype, 2049, what),
        dense("all", &[4097], [elements(what), Fill::Constant(-1.0)]),
        dense("none", &[4097], [Fill::Constant(3.0), Fill::Constant(0.0)]).zeros_expected(),
        dense("few", &[9000], [elements(what), Fill::Mask(0.001)]).zeros_expected(),
    ]);
    if effort == Effort::Probe {
        return problems;
    }
    let every_third = Fill::Cycle(vec![0.0, 7.0, 0.0]);
    let specials = Fill::Cycle(vec![
        f64::NAN,
        -f64::NAN,
        0.0,
        -0.0,
        -0.0,
        1.5,
        1.5,
        f64::INFINITY,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -f64::NAN,
    ]);
    let strided = TensorSpec::new(dtype, [40, 30]).strided([1, 43]);
    problems.extend([
        dense("empty", &[0], [Fill::Bits, Fill::Bits]),
        dense("scalar", &[], [Fill::Constant(5.0), Fill::Constant(1.0)]),
        dense(
            "one not selected",
            &[1],
            [Fill::Constant(5.0), Fill::Constant(0.0)],
        ),
        half(dtype, 2, what),
        half(dtype, 3, what),
        half(dtype, 257, what),
        half(dtype, 2047, what),
        half(dtype, 70_001, what),
        dense("any bits", &[3000], [Fill::Bits, Fill::Mask(0.3)]),
        dense("every third", &[37, 53], [elements(what), every_third]),
        dense("mask of any bits", &[2500], [elements(what), Fill::Bits]),
        problem(
            "strided".into(),
            strided,
            [elements(what), Fill::Mask(0.5)],
            what,
        ),
        half(dtype, 3001, what).unaligned_outputs(),
        half(dtype, 2500, what).shared_buffers(),
    ]);
    if dtype.is_float() {
        problems.push(dense("special", &[1100], [specials, Fill::Mask(0.5)]).zeros_expected());
    }
    if effort == Effort::Full {
        problems.push(half(dtype, (1 << 24) + 17, what));
    }
    problems
}
