//! The CPU twins against the oracle, values that other libraries got wrong, and
//! the derivatives against finite differences.

use portcullis::cpu::math::{self, derivative, integer};
use portcullis::gate::oracle::bounds::{ratio, ulps};
use portcullis::kernels::math_table::{BINARY, UNARY, unary};

use crate::inputs::{self, Random};
use crate::jobs::{
    judge_binary, judge_binary_derivative, judge_unary, judge_unary_derivative, output, parameters,
};

#[test]
fn unary_twins_keep_their_bounds() {
    for op in UNARY {
        for p in parameters(op) {
            let wide = p.map(f64::from);
            let inputs = inputs::unary(op.domain, 1 << 14, 65_537);
            let mut outputs = vec![0.0; inputs.len()];
            (op.cpu_map)(&inputs, p, &mut outputs);
            for (&x, &y) in inputs.iter().zip(&outputs) {
                let ratio = judge_unary(op, p, x, y);
                assert!(ratio <= 1.0, "{}({x:e}, {p:?}) = {y:e}: {ratio}", op.name);
                assert_eq!(y.to_bits(), (op.cpu)(x, p).to_bits(), "{}({x:e})", op.name);

                let exact = output((op.oracle)(x.into(), wide));
                let d = (op.derivative.cpu)(x, exact, p);
                let ratio = judge_unary_derivative(op, p, x, exact, d);
                assert!(ratio <= 1.0, "{}'({x:e}, {p:?}) = {d:e}: {ratio}", op.name);
            }
        }
    }
}

#[test]
fn binary_twins_keep_their_bounds() {
    for op in BINARY {
        let pairs = inputs::binary(op.domain, 1 << 13);
        let (a, b): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
        let mut outputs = vec![0.0; pairs.len()];
        (op.cpu_zip)(&a, &b, &mut outputs);
        for (&(a, b), &y) in pairs.iter().zip(&outputs) {
            let ratio = judge_binary(op, a, b, y);
            assert!(ratio <= 1.0, "{}({a:e}, {b:e}) = {y:e}: {ratio}", op.name);
            let Some(derivative) = &op.derivative else {
                continue;
            };
            let exact = output((op.oracle)(a.into(), b.into()));
            for part in [&derivative.a, &derivative.b] {
                let d = (part.cpu)(a, b, exact);
                let ratio = judge_binary_derivative(part.oracle, part.bound, [a, b, exact], d);
                assert!(ratio <= 1.0, "{}'({a:e}, {b:e}) = {d:e}: {ratio}", op.name);
            }
        }
    }
}

/// What a derivative does not read must not matter to it.
#[test]
fn derivatives_read_only_what_they_declare() {
    let inputs = inputs::unary((-10.0, 10.0), 1000, 1 << 24);
    for op in UNARY {
        let p = parameters(op)[0];
        let uses = op.derivative.uses;
        for &x in &inputs {
            let y = output((op.oracle)(x.into(), p.map(f64::from)));
            let x_read = if uses.input { x } else { 0.625 };
            let y_read = if uses.output { y } else { 0.625 };
            let [full, partial] =
                [(x, y), (x_read, y_read)].map(|(x, y)| (op.derivative.cpu)(x, y, p).to_bits());
            assert_eq!(full, partial, "{}'({x:e})", op.name);
        }
    }
}

/// The measure itself must tell right from wrong.
#[test]
fn the_measure_fails_what_is_wrong() {
    assert!(ratio(1.0_f32.next_up(), 1.0, ulps(0.5, 1.0)) > 1.0);
    assert!(ratio(1.0_f32.next_up(), 1.0, ulps(1.0, 1.0)) <= 1.0);
    assert_eq!(ratio(1.0, 1.5, 0.0), f64::INFINITY);
    assert_eq!(ratio(f32::NAN, 1.0, 1e30), f64::INFINITY);
    assert_eq!(ratio(1.0, f64::NAN, 1e30), f64::INFINITY);
    assert_eq!(ratio(f32::MAX, f64::INFINITY, 1e38), f64::INFINITY);
    assert!(ratio(f32::INFINITY, 1e38, ulps(8.0, 1e38)) > 1.0);
    assert_eq!(ratio(f32::NAN, f64::NAN, 0.0), 0.0);
    let exp = unary("exp").expect("in the table");
    assert!(judge_unary(exp, [0.0; 2], 1.0, 2.718_27) > 1.0);
}

/// Faults reported against other libraries, with the right answer.
#[test]
fn values_that_others_got_wrong() {
    assert_eq!(math::tanh(1000.0), 1.0);
    assert_eq!(math::tanh(11.1), 1.0);
    assert!(math::gelu_erf(-13.24).abs() < 1e-37);
    assert!(math::gelu_tanh(-13.24).abs() < 1e-37);
    assert_eq!(math::gelu_erf(f32::NEG_INFINITY), 0.0);
    assert_eq!(math::softplus(100.0, 1.0, 20.0), 100.0);
    assert_eq!(math::softplus(20.0, 5.0, 20.0), 20.0);
    assert_eq!(derivative::softplus(20.0, 20.0, [5.0, 20.0]), 1.0);
    assert!(math::pow(-4.0, 1.5).is_nan());
    assert_eq!(math::pow(-2000.0, 2.0), 4e6);
    assert_eq!(math::pow(-2.0, 3.0), -8.0);
    assert_eq!(math::pow(0.0, 0.0), 1.0);
    assert_eq!(math::round(2.5), 2.0);
    assert_eq!(math::rem(-4.0, 3.0), -1.0);
    assert!(math::min(1.0, f32::NAN).is_nan() && math::max(f32::NAN, 1.0).is_nan());
    assert!(math::relu(f32::NAN).is_nan() && math::clamp(f32::NAN, 0.0, 1.0).is_nan());
    assert_eq!(integer::signed::rem(-1, 768), -1);
    assert_eq!(integer::signed::rem(-4, 3), -1);
    assert_eq!(derivative::relu(0.0, 0.0, [0.0; 2]), 0.0);
    assert_eq!(derivative::abs(0.0, 0.0, [0.0; 2]), 0.0);
    assert_eq!(derivative::max_a(2.0, 2.0, 2.0), 0.5);
    assert_eq!(derivative::pow_b(0.0, 2.0, 0.0), 0.0);
}

#[test]
fn integers_wrap_and_divide_as_wgsl_does() {
    for (a, b) in inputs::integers() {
        let (wide_a, wide_b) = (a as i32 as i64, b as i32 as i64);
        let (quotient, rest) = match wide_b {
            0 => (wide_a, 0),
            _ => (wide_a / wide_b, wide_a % wide_b),
        };
        let (a_signed, b_signed) = (a as i32, b as i32);
        assert_eq!(integer::signed::div(a_signed, b_signed), quotient as i32);
        assert_eq!(integer::signed::rem(a_signed, b_signed), rest as i32);
        assert_eq!(
            integer::signed::mul(a_signed, b_signed),
            (wide_a * wide_b) as i32
        );
        assert_eq!(
            integer::signed::shift_right(a_signed, b_signed),
            (wide_a >> (b & 31)) as i32
        );
        let (wide_a, wide_b) = (a as u64, b as u64);
        let quotient = wide_a.checked_div(wide_b).unwrap_or(wide_a);
        assert_eq!(integer::unsigned::div(a, b), quotient as u32);
        assert_eq!(
            integer::unsigned::rem(a, b),
            wide_a.checked_rem(wide_b).unwrap_or(0) as u32
        );
        assert_eq!(
            integer::unsigned::shift_left(a, b),
            (wide_a << (b & 31)) as u32
        );
    }
    assert_eq!(integer::signed::pow(-2, 31), i32::MIN);
    assert_eq!(integer::signed::pow(-1, -3), -1);
    assert_eq!(integer::signed::pow(2, -1), 0);
}

/// (f(x − 2h) − 8 f(x − h) + 8 f(x + h) − f(x + 2h)) / 12h.
fn four_points(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    let h = 1e-5 * x.abs().max(0.1);
    (f(x - 2.0 * h) - 8.0 * f(x - h) + 8.0 * f(x + h) - f(x + 2.0 * h)) / (12.0 * h)
}

fn near_whole(x: f64) -> bool {
    (x - x.round()).abs() < 1e-3
}

fn mean_difference(pairs: &[(f64, f64)]) -> f64 {
    let term = |(a, b): &(f64, f64)| {
        if a == b {
            0.0
        } else {
            (a - b).abs() / (a + b).abs()
        }
    };
    pairs.iter().map(term).sum::<f64>() / pairs.len() as f64
}

/// Where finite differences mean something: not at the ends of f32.
fn tame((low, high): (f64, f64)) -> (f64, f64) {
    let low = if low >= 0.0 {
        low.max(0.1)
    } else {
        low.max(-8.0)
    };
    (low, high.min(8.0))
}

#[test]
fn derivatives_agree_with_finite_differences() {
    let mut random = Random(4);
    for op in UNARY {
        let limit = if op.name == "sin" { 1e-3 } else { 1e-4 };
        for p in parameters(op).into_iter().map(|p| p.map(f64::from)) {
            // Every step and kink, with these parameters, is at a multiple of 1/4.
            let pairs: Vec<(f64, f64)> = (0..2000)
                .map(|_| random.within(tame(op.domain)) as f64)
                .filter(|x| !near_whole(4.0 * x))
                .map(|x| {
                    let slope = (op.derivative.oracle)(x, (op.oracle)(x, p), p);
                    (four_points(|x| (op.oracle)(x, p), x), slope)
                })
                .collect();
            let difference = mean_difference(&pairs);
            assert!(difference <= limit, "{} {p:?}: {difference:e}", op.name);
        }
    }
    for op in BINARY {
        let Some(derivative) = &op.derivative else {
            continue;
        };
        let limit = if matches!(op.name, "mul" | "div") {
            1e-3
        } else {
            1e-4
        };
        let (mut by_a, mut by_b) = (Vec::new(), Vec::new());
        for _ in 0..2000 {
            let [a, b] = op.domain.map(|domain| random.within(tame(domain)) as f64);
            // A remainder jumps and a minimum turns where the quotient is whole.
            if b.abs() < 0.5 || near_whole(a / b) {
                continue;
            }
            let y = (op.oracle)(a, b);
            let slopes = [&derivative.a, &derivative.b].map(|part| (part.oracle)(a, b, y));
            by_a.push((four_points(|a| (op.oracle)(a, b), a), slopes[0]));
            by_b.push((four_points(|b| (op.oracle)(a, b), b), slopes[1]));
        }
        for pairs in [by_a, by_b] {
            let difference = mean_difference(&pairs);
            assert!(difference <= limit, "{}: {difference:e}", op.name);
        }
    }
}
