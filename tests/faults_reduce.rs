//! Reductions that other libraries have got wrong, on every adapter, in every variant and on the CPU.

mod common;

use half::f16;
use portcullis::{Device, Error, Gpu, Policy, Tensor, Variant, ops};

fn tensor<T: portcullis::Element>(device: &Device, data: &[T]) -> Tensor {
    Tensor::from_slice(device, data, &[data.len()]).unwrap()
}

fn only<T: portcullis::Element>(result: portcullis::Result<Tensor>) -> T {
    result.unwrap().to_vec_blocking::<T>().unwrap()[0]
}

#[test]
fn min_and_argmin_of_ten_infinities() {
    for (name, device) in common::backends() {
        let x = tensor(&device, &[f32::INFINITY; 10]);
        assert_eq!(
            only::<f32>(ops::reduce_min(&x, &[], false)),
            f32::INFINITY,
            "{name}"
        );
        assert_eq!(only::<i32>(ops::argmin(&x, &[], false)), 0, "{name}");
        let x = tensor(&device, &[f32::NEG_INFINITY; 10]);
        assert_eq!(
            only::<f32>(ops::reduce_max(&x, &[], false)),
            f32::NEG_INFINITY,
            "{name}"
        );
        assert_eq!(only::<i32>(ops::argmax(&x, &[], false)), 0, "{name}");
    }
}

/// Where an f32 counter stands still at 2^24, a blocked sum does not.
#[test]
fn sum_of_two_to_the_27_ones() {
    for (name, device) in common::backends() {
        // Software adapters hold 2^25 at most; that is beyond 2^24 too.
        let software = device
            .gpu()
            .is_some_and(|g| g.capabilities().identity.kind == "cpu");
        let n = if software { 1 << 25 } else { 1usize << 27 };
        let x = tensor(&device, &vec![1.0f32; n]);
        assert_eq!(
            only::<f32>(ops::reduce_sum(&x, &[], false)),
            n as f32,
            "{name}"
        );
    }
}

#[test]
fn f16_sum_of_4096_ones_and_mean_of_large_values() {
    for (name, device) in common::backends() {
        let x = tensor(&device, &[f16::ONE; 4096]);
        assert_eq!(
            only::<f16>(ops::reduce_sum(&x, &[], false)).to_f32(),
            4096.0,
            "{name}"
        );
        let x = tensor(&device, &[f16::from_f32(60000.0); 1000]);
        assert_eq!(
            only::<f16>(ops::reduce_mean(&x, &[], false)).to_f32(),
            60000.0,
            "{name}"
        );
    }
}

#[test]
fn argmax_finds_the_first_nan_and_the_first_of_equals() {
    for (name, device) in common::backends() {
        let x = tensor(&device, &[3.0, f32::NAN, 1.0, 5.0]);
        assert_eq!(only::<i32>(ops::argmax(&x, &[], false)), 1, "{name}");
        assert_eq!(only::<i32>(ops::argmin(&x, &[], false)), 1, "{name}");
        let x = tensor(&device, &[0.0, 7.0f32, 7.0, -0.0, 0.0]);
        assert_eq!(only::<i32>(ops::argmax(&x, &[], false)), 1, "{name}");
        assert_eq!(only::<i32>(ops::argmin(&x, &[], false)), 0, "{name}");
        // Far apart, so that the two are found by different workgroups.
        let mut far = vec![1.0f32; 40_000];
        far[39_999] = -f32::NAN;
        far[20_000] = f32::from_bits(0x7f80_0001);
        let x = tensor(&device, &far);
        assert_eq!(only::<i32>(ops::argmax(&x, &[], false)), 20_000, "{name}");
    }
}

#[test]
fn nan_spreads_through_min_and_max_whatever_its_bits() {
    for (name, device) in common::backends() {
        for bits in [0x7fc0_0000u32, 0xffc0_0000, 0x7f80_0001, 0xffff_ffff] {
            let mut data = vec![1.0f32; 300];
            data[77] = f32::from_bits(bits);
            let x = tensor(&device, &data);
            for result in [
                ops::reduce_min(&x, &[], false),
                ops::reduce_max(&x, &[], false),
            ] {
                let found = only::<f32>(result).to_bits() & 0x7fff_ffff;
                assert!(found > 0x7f80_0000, "{name}: {found:#x} for {bits:#x}");
            }
        }
    }
}

#[test]
fn of_nothing_there_is_a_sum_a_product_and_a_typed_error() {
    for (name, device) in common::backends() {
        let x = Tensor::from_slice::<f32>(&device, &[], &[3, 0]).unwrap();
        let read = |y: portcullis::Result<Tensor>| y.unwrap().to_vec_blocking::<f32>().unwrap();
        assert_eq!(read(ops::reduce_sum(&x, &[1], false)), [0.0; 3], "{name}");
        assert_eq!(read(ops::reduce_prod(&x, &[1], false)), [1.0; 3], "{name}");
        for y in [
            ops::reduce_mean(&x, &[1], false),
            ops::reduce_var(&x, &[1], false, 1.0),
        ] {
            assert!(read(y).iter().all(|v| v.is_nan()), "{name}");
        }
        for y in [
            ops::reduce_min(&x, &[1], false),
            ops::reduce_max(&x, &[1], false),
            ops::argmin(&x, &[1], false),
            ops::argmax(&x, &[], false),
        ] {
            assert!(matches!(y, Err(Error::Empty { .. })), "{name}: {y:?}");
        }
        // No results at all: nothing to do, whatever the operator.
        assert_eq!(
            ops::reduce_min(&x, &[0], false).unwrap().shape(),
            [0],
            "{name}"
        );
    }
}

#[test]
fn variance_of_a_huge_mean_keeps_its_digits() {
    for (name, device) in common::backends() {
        let x: Vec<f32> = (0..16).map(|i| 1000.0 + i as f32 * 1e-3).collect();
        let mean = x.iter().map(|&v| v as f64).sum::<f64>() / 16.0;
        let exact = x.iter().map(|&v| (v as f64 - mean).powi(2)).sum::<f64>() / 15.0;
        let y = only::<f32>(ops::reduce_var(&tensor(&device, &x), &[], false, 1.0)) as f64;
        assert!(
            (y / exact - 1.0).abs() < 1e-5,
            "{name}: {y} instead of {exact}"
        );
        // A single element has no degree of freedom left.
        let one = tensor(&device, &[5.0f32]);
        assert!(
            only::<f32>(ops::reduce_var(&one, &[], false, 1.0)).is_nan(),
            "{name}"
        );
        assert_eq!(
            only::<f32>(ops::reduce_var(&one, &[], false, 0.0)),
            0.0,
            "{name}"
        );
    }
}

#[test]
fn integers_wrap() {
    for (name, device) in common::backends() {
        let x = tensor(&device, &[i32::MAX, 1, 1]);
        assert_eq!(
            only::<i32>(ops::reduce_sum(&x, &[], false)),
            i32::MIN + 1,
            "{name}"
        );
        let x = tensor(&device, &[u32::MAX, u32::MAX]);
        assert_eq!(only::<u32>(ops::reduce_prod(&x, &[], false)), 1, "{name}");
        let x = tensor(&device, &[i32::MIN, i32::MAX]);
        assert_eq!(
            only::<i32>(ops::reduce_min(&x, &[], false)),
            i32::MIN,
            "{name}"
        );
        let x = tensor(&device, &[0u32, u32::MAX]);
        assert_eq!(
            only::<u32>(ops::reduce_max(&x, &[], false)),
            u32::MAX,
            "{name}"
        );
    }
}

/// More workgroups than one dimension holds, on a device that holds seven.
#[test]
fn workgroups_are_folded_and_splits_are_fewer_on_small_devices() {
    for gpu in common::gpus() {
        let small = gpu.with_capabilities(|c| c.limits.max_compute_workgroups_per_dimension = 7);
        for (rows, columns, axis) in [(40, 1100, 1), (1, 500_000, 1), (30, 300, 0), (600, 3, 1)] {
            let device = Device::from_gpu(small.clone(), Policy::force(Variant::Portable));
            let data: Vec<i32> = (0..rows * columns).map(|i| i % 1009 - 500).collect();
            let x = Tensor::from_slice(&device, &data, &[rows as usize, columns as usize]).unwrap();
            let y = ops::reduce_sum(&x, &[axis], false).unwrap();
            let of = |r: i32| -> i32 {
                let at = |c: i32| match axis {
                    1 => data[(r * columns + c) as usize],
                    _ => data[(c * columns + r) as usize],
                };
                (0..if axis == 1 { columns } else { rows }).map(at).sum()
            };
            let exact: Vec<i32> = (0..y.len() as i32).map(of).collect();
            assert_eq!(
                y.to_vec_blocking::<i32>().unwrap(),
                exact,
                "{rows}x{columns} {axis}"
            );
        }
    }
}

#[test]
fn the_same_bits_twice() {
    for (name, device) in common::backends() {
        let data: Vec<f32> = (0..100_003)
            .map(|i| ((i * 7919) % 10_007) as f32 / 97.0)
            .collect();
        let x = tensor(&device, &data);
        let sum = || only::<f32>(ops::reduce_sum(&x, &[], false)).to_bits();
        assert_eq!(sum(), sum(), "{name}");
    }
}

#[test]
fn axes_that_do_not_fit_are_typed_errors() {
    let x = Tensor::from_slice(&Device::cpu(), &[1.0f32; 6], &[2, 3]).unwrap();
    assert!(matches!(
        ops::reduce_sum(&x, &[2], false),
        Err(Error::Axis { .. })
    ));
    assert!(matches!(
        ops::reduce_sum(&x, &[1, -1], false),
        Err(Error::Parameter { .. })
    ));
    assert!(matches!(
        ops::reduce_var(&x, &[], false, f64::NAN),
        Err(Error::Parameter { .. })
    ));
    let integers = Tensor::from_slice(&Device::cpu(), &[1i32; 6], &[2, 3]).unwrap();
    assert!(matches!(
        ops::reduce_mean(&integers, &[], false),
        Err(Error::DType { .. })
    ));
}

/// The gradient of a maximum is split evenly among equals (as PyTorch's amax and max do).
#[test]
fn ties_share_the_gradient() {
    for (name, device) in common::backends() {
        let x = Tensor::from_slice(&device, &[5.0f32, 1.0, 5.0, 5.0], &[4]).unwrap();
        let cotangent = Tensor::from_slice(&device, &[3.0f32], &[]).unwrap();
        let inputs = [Some(&x), Some(&cotangent)];
        let outputs = ops::call("reduce_max_backward", &inputs, &portcullis::Params::new());
        let gradient = outputs
            .unwrap()
            .into_first()
            .to_vec_blocking::<f32>()
            .unwrap();
        assert_eq!(gradient, [1.0, 0.0, 1.0, 1.0], "{name}");
    }
}

/// Of a product with a zero, only the zero has a gradient; with two, nothing has.
#[test]
fn the_gradient_of_a_product_with_zeros() {
    for (name, device) in common::backends() {
        let x = Tensor::from_slice(&device, &[2.0f32, 0.0, 4.0, 0.0, 0.0, 4.0], &[2, 3]).unwrap();
        let cotangent = Tensor::from_slice(&device, &[1.0f32, 1.0], &[2]).unwrap();
        let params = portcullis::Params::new().with("axes", vec![1i64]);
        let outputs = ops::call(
            "reduce_prod_backward",
            &[Some(&x), Some(&cotangent)],
            &params,
        );
        let gradient = outputs
            .unwrap()
            .into_first()
            .to_vec_blocking::<f32>()
            .unwrap();
        assert_eq!(gradient, [0.0, 8.0, 0.0, 0.0, 0.0, 0.0], "{name}");
    }
}

/// A mutant that reads one quad too few must not survive its probe.
#[test]
fn a_wrong_chunk_is_demoted() {
    for gpu in common::gpus() {
        if gpu.capabilities().subgroups.is_none() {
            continue;
        }
        let gpu: Gpu = gpu.with_capabilities(|_| ());
        gpu.inject(|plan| {
            if plan.variant == Variant::Subgroup && plan.call.name() == "reduce_sum" {
                for step in &mut plan.steps {
                    if let portcullis::plan::Param::Word(columns) = &mut step.params[2] {
                        *columns = columns.saturating_sub(1);
                    }
                }
            }
        });
        let device = Device::from_gpu(gpu, Policy::default());
        let x = tensor(&device, &[1.0f32; 1000]);
        let outputs = ops::call("reduce_sum", &[Some(&x)], &portcullis::Params::new()).unwrap();
        assert_ne!(outputs.decision().variant, Variant::Subgroup);
        assert_eq!(
            outputs.into_first().to_vec_blocking::<f32>().unwrap(),
            [1000.0]
        );
    }
}
