//! Faults that other libraries had in elementwise operations, and what must be
//! refused: on every adapter and on the CPU.

mod common;

use half::f16;
use portcullis::{DType, Device, Element, Error, Params, Tensor, Variant, ops};

fn backends() -> Vec<(String, Device)> {
    common::backends_of(&[Variant::Portable])
}

fn tensor<T: Element>(device: &Device, data: &[T]) -> Tensor {
    Tensor::from_slice(device, data, &[data.len()]).unwrap()
}

fn values<T: Element>(tensor: portcullis::Result<Tensor>) -> Vec<T> {
    tensor.unwrap().to_vec_blocking().unwrap()
}

#[test]
fn tanh_of_large_numbers_is_one() {
    for (name, device) in backends() {
        let x = tensor(&device, &[1000.0f32, -1000.0, f32::INFINITY]);
        assert_eq!(values::<f32>(ops::tanh(&x)), [1.0, -1.0, 1.0], "{name}");
        let x = tensor(&device, &[f16::from_f32(11.1)]);
        assert_eq!(values::<f16>(ops::tanh(&x)), [f16::ONE], "{name}");
    }
}

#[test]
fn gelu_stays_finite_far_out() {
    for (name, device) in backends() {
        let x = tensor(
            &device,
            &[-13.24f32, -1e30, f32::MIN, 1e30, f32::NEG_INFINITY],
        );
        for y in [ops::gelu_erf(&x), ops::gelu_tanh(&x)] {
            let y = values::<f32>(y);
            assert!(y[0].abs() < 1e-30, "{name}: {y:?}");
            assert_eq!(y[1..], [0.0, 0.0, 1e30, 0.0], "{name}");
        }
    }
}

#[test]
fn softplus_does_not_overflow() {
    for (name, device) in backends() {
        let x = tensor(&device, &[100.0f32, 3e38]);
        let y = values::<f32>(ops::softplus(&x, 1.0, 20.0));
        assert_eq!(y, [100.0, 3e38], "{name}");
        let x = tensor(&device, &[20.0f32]);
        assert_eq!(
            values::<f32>(ops::softplus(&x, 5.0, 20.0)),
            [20.0],
            "{name}"
        );
        let params = Params::new().with("beta", 5.0).with("threshold", 20.0);
        let cotangent = tensor(&device, &[1.0f32]);
        let gradient = ops::call(
            "softplus_backward",
            &[Some(&x), None, Some(&cotangent)],
            &params,
        );
        let gradient = gradient.unwrap().into_first();
        assert_eq!(values::<f32>(Ok(gradient)), [1.0], "{name}");
    }
}

#[test]
fn pow_of_negative_numbers() {
    for (name, device) in backends() {
        let a = tensor(&device, &[-4.0f32, -2000.0, -2.0, 0.0]);
        let b = tensor(&device, &[1.5f32, 2.0, 3.0, 0.0]);
        let y = values::<f32>(ops::pow(&a, &b));
        assert_eq!(y[0].to_bits() & 0x7fff_ffff, 0x7fc0_0000, "{name}: {y:?}");
        assert_eq!(y[1..], [4e6, -8.0, 1.0], "{name}");
    }
}

#[test]
fn integers_divide_as_wgsl_says() {
    for (name, device) in backends() {
        let a = tensor(&device, &[-1i32, -4, i32::MIN, i32::MIN, 7, -7]);
        let b = tensor(&device, &[768i32, 3, -1, 0, 0, -2]);
        assert_eq!(
            values::<i32>(ops::rem(&a, &b)),
            [-1, -1, 0, 0, 0, -1],
            "{name}"
        );
        let quotient = [0, -1, i32::MIN, i32::MIN, 7, 3];
        assert_eq!(values::<i32>(ops::div(&a, &b)), quotient, "{name}");
        let a = tensor(&device, &[7u32, 7, u32::MAX]);
        let b = tensor(&device, &[0u32, 4, 2]);
        assert_eq!(values::<u32>(ops::rem(&a, &b)), [0, 3, 1], "{name}");
        assert_eq!(
            values::<u32>(ops::mul(&a, &b)),
            [0, 28, u32::MAX - 1],
            "{name}"
        );
    }
}

#[test]
fn nan_spreads() {
    for (name, device) in backends() {
        // Quiet, negative, signalling: told apart from numbers by their bits.
        let nans = [0x7fc0_0000u32, 0xffc0_0001, 0x7f80_0001].map(f32::from_bits);
        let x = tensor(&device, &nans);
        let one = tensor(&device, &[1.0f32]);
        for y in [
            ops::relu(&x),
            ops::clamp(&x, 0.0, 1.0),
            ops::min(&x, &one),
            ops::min(&one, &x),
            ops::max(&x, &one),
            ops::max(&one, &x),
            ops::tanh(&x),
            ops::softplus(&x, 1.0, 20.0),
        ] {
            for y in values::<f32>(y) {
                assert!(y.to_bits() & 0x7fff_ffff > 0x7f80_0000, "{name}: {y}");
            }
        }
        assert_eq!(values::<u32>(ops::eq(&x, &x)), [0; 3], "{name}");
        assert_eq!(values::<u32>(ops::ne(&x, &x)), [1; 3], "{name}");
    }
}

#[test]
fn halves_round_to_even() {
    for (name, device) in backends() {
        let x = tensor(&device, &[0.5f32, 1.5, 2.5, -0.5, -1.5, 8388609.0]);
        let rounded = [0.0, 2.0, 2.0, 0.0, -2.0, 8388609.0];
        assert_eq!(values::<f32>(ops::round(&x)), rounded, "{name}");
    }
}

#[test]
fn casts_saturate_and_round_once() {
    for (name, device) in backends() {
        let x = tensor(
            &device,
            &[f32::NAN, 3e9, -3e9, -1.9, 2147483520.0, f32::INFINITY],
        );
        let signed = [0, i32::MAX, i32::MIN, -1, 2147483520, i32::MAX];
        assert_eq!(values::<i32>(ops::cast(&x, DType::I32)), signed, "{name}");
        let unsigned = [0, 3_000_000_000, 0, 0, 2147483520, u32::MAX];
        assert_eq!(values::<u32>(ops::cast(&x, DType::U32)), unsigned, "{name}");
        let x = tensor(&device, &[16777217i32, -16777219, i32::MIN, 0]);
        let floats = [16777216.0, -16777220.0, -2147483648.0, 0.0];
        assert_eq!(values::<f32>(ops::cast(&x, DType::F32)), floats, "{name}");
        // Just above halfway between two bf16; f32 would round it to halfway.
        let x = tensor(&device, &[(1u32 << 30) + (1 << 22) + 1]);
        let y = values::<half::bf16>(ops::cast(&x, DType::BF16));
        assert_eq!(y[0].to_f32(), 1082130432.0, "{name}");
        // A copy keeps the bits of every NaN.
        let x = tensor(&device, &[0x7f80_0001u32, 0xffff_ffff].map(f32::from_bits));
        let y = ops::cast(&x, DType::F32).unwrap();
        let bits = |t: &Tensor| t.to_host_blocking().unwrap().bytes().to_vec();
        assert_eq!(bits(&x), bits(&y), "{name}");
    }
}

#[test]
fn where_takes_and_keeps_bits() {
    for (name, device) in backends() {
        let condition = tensor(&device, &[0i32, -1, 2, 0]);
        let a = tensor(&device, &[f32::NAN, f32::NAN, 3.0, 4.0]);
        let b = tensor(&device, &[0.5f32]);
        let y = values::<f32>(ops::where_(&condition, &a, &b));
        assert!(y[1].is_nan(), "{name}");
        assert_eq!([y[0], y[2], y[3]], [0.5, 3.0, 0.5], "{name}");
    }
}

#[test]
fn nothing_and_scalars() {
    for (name, device) in backends() {
        let none = Tensor::from_slice::<f32>(&device, &[], &[0, 3]).unwrap();
        let row = tensor(&device, &[1.0f32, 2.0, 3.0]);
        assert_eq!(ops::add(&none, &row).unwrap().shape(), [0, 3], "{name}");
        assert_eq!(values::<f32>(ops::exp(&none)), [0.0; 0], "{name}");
        let scalar = Tensor::from_slice(&device, &[2.0f32], &[]).unwrap();
        assert_eq!(values::<f32>(ops::mul(&scalar, &scalar)), [4.0], "{name}");
        // The gradient of a row that was broadcast to nothing.
        let gradients = ops::call(
            "add_backward",
            &[None, Some(&row), None, Some(&none)],
            &Params::new(),
        );
        let gradients = gradients.unwrap();
        let b = gradients.get("b").unwrap().clone();
        assert_eq!(values::<f32>(Ok(b)), [0.0; 3], "{name}");
    }
}

/// (f(x − 2h) − 8 f(x − h) + 8 f(x + h) − f(x + 2h)) / 12h.
fn four_points(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    let h = 1e-3;
    (f(x - 2.0 * h) - 8.0 * f(x - h) + 8.0 * f(x + h) - f(x + 2.0 * h)) / (12.0 * h)
}

#[test]
fn gradients_of_broadcast_operands_agree_with_finite_differences() {
    let (rows, columns) = (70, 5);
    let at = |i: usize| 0.5 + (i * 37 % 101) as f64 / 60.0;
    let a: Vec<f64> = (0..rows * columns).map(at).collect();
    let b: Vec<f64> = (0..columns).map(|i| 1.0 + i as f64 / 3.0).collect();
    let c: Vec<f64> = (0..rows * columns).map(|i| at(i * 7 + 3) - 1.0).collect();
    // Of Σ c · a^b by each b.
    let loss = |b: &[f64]| -> f64 {
        (0..rows * columns)
            .map(|i| c[i] * a[i].powf(b[i % columns]))
            .sum()
    };
    let expected: Vec<f64> = (0..columns)
        .map(|j| {
            let moved = |x: f64| {
                let mut b = b.clone();
                b[j] = x;
                loss(&b)
            };
            four_points(moved, b[j])
        })
        .collect();
    let narrow = |v: &[f64]| v.iter().map(|&x| x as f32).collect::<Vec<f32>>();
    for (name, device) in backends() {
        let a = Tensor::from_slice(&device, &narrow(&a), &[rows, columns]).unwrap();
        let b = Tensor::from_slice(&device, &narrow(&b), &[columns]).unwrap();
        let c = Tensor::from_slice(&device, &narrow(&c), &[rows, columns]).unwrap();
        let y = ops::pow(&a, &b).unwrap();
        let inputs = [Some(&a), Some(&b), Some(&y), Some(&c)];
        let gradients = ops::call("pow_backward", &inputs, &Params::new()).unwrap();
        let b = gradients
            .get("b")
            .unwrap()
            .to_vec_blocking::<f32>()
            .unwrap();
        for (got, expected) in b.iter().zip(&expected) {
            let error = (*got as f64 - expected).abs();
            assert!(
                error <= 1e-4 * expected.abs() + 1e-4,
                "{name}: {got} {expected}"
            );
        }
        assert_eq!(
            gradients.get("a").unwrap().shape(),
            [rows, columns],
            "{name}"
        );
    }
}

#[test]
fn misfits_are_refused() {
    for (name, device) in backends() {
        let floats = tensor(&device, &[1.0f32, 2.0, 3.0]);
        let two = tensor(&device, &[1.0f32, 2.0]);
        let integers = tensor(&device, &[1i32, 2, 3]);
        let refused = |result: portcullis::Result<Tensor>| result.unwrap_err().to_string();
        let error = refused(ops::add(&floats, &integers));
        assert!(error.contains("cast"), "{name}: {error}");
        let error = refused(ops::add(&floats, &two));
        assert!(error.contains("broadcast"), "{name}: {error}");
        let error = refused(ops::exp(&integers));
        assert!(error.contains("i32"), "{name}: {error}");
        let error = refused(ops::where_(&floats, &floats, &floats));
        assert!(error.contains("condition"), "{name}: {error}");
        let call = |name: &str, params: Params| {
            ops::call(name, &[Some(&floats)], &params).map(|o| o.into_first())
        };
        let error = refused(call("cast", Params::new().with("to", "f64")));
        assert!(error.contains("bf16"), "{name}: {error}");
        let error = refused(call("softplus", Params::new().with("gamma", 1.0)));
        assert!(error.contains("threshold"), "{name}: {error}");
    }
}

#[cfg(feature = "user-wgsl")]
mod map {
    use super::*;

    #[test]
    fn errors_point_at_the_users_line() {
        let device = Device::cpu();
        let x = tensor(&device, &[1.0f32]);
        let error = |text: &str| ops::map(text, &[&x], None).unwrap_err();
        let text = "fn map(x: f32) -> f32 {\n    let y = x + 1.0;\n    return z;\n}";
        assert!(
            matches!(error(text), Error::Wgsl { line: 3, .. }),
            "{}",
            error(text)
        );
        let missing = error("fn square(x: f32) -> f32 { return x * x; }");
        assert!(missing.to_string().contains("map"), "{missing}");
        let other = error("fn map(x: f32) -> u32 { return u32(x); }");
        assert!(other.to_string().contains("f32"), "{other}");
        let global = error("var<private> n: f32; fn map(x: f32) -> f32 { return n; }");
        assert!(matches!(global, Error::Wgsl { line: 1, .. }), "{global}");
        let none = ops::map("fn map() -> f32 { return 1.0; }", &[], None).unwrap_err();
        assert!(matches!(none, Error::Inputs { .. }), "{none}");
        let inputs = [&x; 8];
        let many = ops::map("fn map(x: f32) -> f32 { return x; }", &inputs, None);
        assert!(matches!(many, Err(Error::Inputs { .. })));
    }

    #[test]
    fn a_loop_without_end_is_an_error_on_the_cpu() {
        let x = tensor(&Device::cpu(), &[1.0f32; 5000]);
        let text =
            "fn map(x: f32) -> f32 {\n    var y = x;\n    loop { y += 1.0; }\n    return y;\n}";
        let error = ops::map(text, &[&x], None).unwrap_err();
        assert!(matches!(error, Error::Wgsl { .. }), "{error}");
    }

    #[test]
    fn a_text_may_use_any_names() {
        let text = "\
const params = 3.0;
struct main { x: f32, result: vec2<f32> }
alias f32_ = f32;
fn load4(quad: f32) -> main { return main(quad, vec2<f32>(quad, params)); }
fn select(a: f32, b: f32) -> f32_ { return a * b; }
fn math(store: f32) -> f32 { let load = load4(store); return load.result.x + load.result.y; }
fn map(x: f32, user: i32) -> f32 { return select(math(x), f32(user)); }
";
        for (name, device) in backends() {
            let x = tensor(&device, &[1.0f32, 2.0, -5.0]);
            let user = tensor(&device, &[2i32]);
            let y = values::<f32>(ops::map(text, &[&x, &user], None));
            assert_eq!(y, [8.0, 10.0, -4.0], "{name}");
        }
    }

    #[test]
    fn a_remainder_is_right_or_not_taken_on_the_gpu() {
        let text = "fn map(x: i32) -> i32 { return x % 3; }";
        for gpu in common::gpus() {
            let device = Device::from_gpu(gpu.clone(), portcullis::Policy::default());
            let x = tensor(&device, &[-4i32, 4, -1]);
            assert_eq!(values::<i32>(ops::map(text, &[&x], None)), [-1, 1, -1]);
        }
    }
}

#[test]
fn an_odd_number_of_halves_goes_to_the_device_and_back() {
    for (name, device) in backends() {
        let numbers = [1.5f32, -2.0, 3.25].map(f16::from_f32);
        for n in 1..=3 {
            let x = tensor(&device, &numbers[..n]);
            assert_eq!(values::<f16>(Ok(x.clone())), numbers[..n], "{name}");
            let negated: Vec<f16> = numbers[..n].iter().map(|x| -x).collect();
            assert_eq!(values::<f16>(ops::neg(&x)), negated, "{name}");
            let last = x.narrow(0, n - 1, 1).unwrap();
            assert_eq!(values::<f16>(ops::neg(&last)), negated[n - 1..], "{name}");
        }
    }
}
