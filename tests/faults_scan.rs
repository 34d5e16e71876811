//! Scans that other libraries have got wrong, on every adapter, in every variant and on the CPU.

mod common;

use portcullis::{Device, Error, Policy, Tensor, Variant, ops};

fn tensor<T: portcullis::Element>(device: &Device, data: &[T]) -> Tensor {
    Tensor::from_slice(device, data, &[data.len()]).unwrap()
}

fn all<T: portcullis::Element>(result: portcullis::Result<Tensor>) -> Vec<T> {
    result.unwrap().to_vec_blocking::<T>().unwrap()
}

#[test]
fn cumsum_of_a_million_zeros() {
    for (name, device) in common::backends() {
        let x = tensor(&device, &vec![0.0f32; 1_000_000]);
        let y = all::<f32>(ops::inclusive_scan_sum(&x, 0, false));
        assert!(
            y.len() == 1_000_000 && y.iter().all(|&v| v == 0.0),
            "{name}"
        );
    }
}

/// No read in front of the input: the first result is the identity, bit for bit.
#[test]
fn exclusive_scans_begin_with_the_identity() {
    for (name, device) in common::backends() {
        for n in [1usize, 2, 255, 256, 257, 4096, 4097, 17_000] {
            let x = tensor(&device, &vec![f32::NAN; n]);
            let first = |y: portcullis::Result<Tensor>| all::<f32>(y)[0];
            assert_eq!(
                first(ops::exclusive_scan_sum(&x, 0, false)),
                0.0,
                "{name} {n}"
            );
            assert_eq!(
                first(ops::exclusive_scan_min(&x, 0, false)),
                f32::INFINITY,
                "{name} {n}"
            );
            let least = f32::NEG_INFINITY;
            assert_eq!(
                first(ops::exclusive_scan_max(&x, 0, false)),
                least,
                "{name} {n}"
            );
        }
        let x = tensor(&device, &[7i32, 8]);
        assert_eq!(
            all::<i32>(ops::exclusive_scan_min(&x, 0, false)),
            [i32::MAX, 7],
            "{name}"
        );
        assert_eq!(
            all::<i32>(ops::exclusive_scan_max(&x, 0, false)),
            [i32::MIN, 7],
            "{name}"
        );
        let x = tensor(&device, &[7u32, 8]);
        assert_eq!(
            all::<u32>(ops::exclusive_scan_min(&x, 0, false)),
            [u32::MAX, 7],
            "{name}"
        );
        assert_eq!(
            all::<u32>(ops::exclusive_scan_max(&x, 0, false)),
            [0, 7],
            "{name}"
        );
    }
}

#[test]
fn nan_spreads_to_everything_behind_it() {
    for (name, device) in common::backends() {
        let mut data = vec![1.0f32; 20_000];
        data[9_000] = f32::NAN;
        let x = tensor(&device, &data);
        for y in [
            ops::inclusive_scan_sum(&x, 0, false),
            ops::inclusive_scan_min(&x, 0, false),
            ops::inclusive_scan_max(&x, 0, false),
        ] {
            let nan: Vec<bool> = all::<f32>(y)
                .iter()
                .map(|v| v.to_bits() & 0x7fff_ffff > 0x7f80_0000)
                .collect();
            let exact: Vec<bool> = (0..data.len()).map(|i| i >= 9_000).collect();
            assert!(nan == exact, "{name}");
        }
    }
}

/// Where f32 counters stand still at 2^24, tiles do not: 2^24 + 2^20 is exact.
#[test]
fn cumsum_of_more_than_two_to_the_24_ones() {
    for (name, device) in common::backends() {
        let n = (1 << 24) + (1 << 20);
        let x = tensor(&device, &vec![1.0f32; n]);
        let y = all::<f32>(ops::inclusive_scan_sum(&x, 0, false));
        assert_eq!(y[n - 1], n as f32, "{name}");
        assert!(
            y[..1 << 24]
                .iter()
                .enumerate()
                .all(|(i, &v)| v == (i + 1) as f32),
            "{name}"
        );
    }
}

#[test]
fn integers_wrap() {
    for (name, device) in common::backends() {
        let x = tensor(&device, &[i32::MAX, 1, 1]);
        let y = all::<i32>(ops::inclusive_scan_sum(&x, 0, false));
        assert_eq!(y, [i32::MAX, i32::MIN, i32::MIN + 1], "{name}");
    }
}

#[test]
fn empty_rows_and_single_elements() {
    for (name, device) in common::backends() {
        let x = Tensor::from_slice::<f32>(&device, &[], &[3, 0]).unwrap();
        assert_eq!(
            ops::inclusive_scan_sum(&x, 1, false).unwrap().shape(),
            [3, 0],
            "{name}"
        );
        let x = Tensor::from_slice(&device, &[4.0f32], &[1]).unwrap();
        assert_eq!(
            all::<f32>(ops::inclusive_scan_sum(&x, 0, true)),
            [4.0],
            "{name}"
        );
    }
}

/// More workgroups than one dimension holds, on a device that holds seven.
#[test]
fn workgroups_are_folded_and_splits_are_fewer_on_small_devices() {
    for gpu in common::gpus() {
        let small = gpu.with_capabilities(|c| c.limits.max_compute_workgroups_per_dimension = 7);
        for (rows, columns) in [(40, 1100), (1, 500_000), (6, 40_000), (900, 3)] {
            let device = Device::from_gpu(small.clone(), Policy::force(Variant::Portable));
            let data: Vec<u32> = (0..rows * columns)
                .map(|i: u32| i.wrapping_mul(2_654_435_761))
                .collect();
            let x = Tensor::from_slice(&device, &data, &[rows as usize, columns as usize]).unwrap();
            let mut exact = data.clone();
            for row in exact.chunks_mut(columns as usize) {
                (1..row.len()).for_each(|i| row[i] = row[i].wrapping_add(row[i - 1]));
            }
            let y = all::<u32>(ops::inclusive_scan_sum(&x, 1, false));
            assert!(y == exact, "{rows}x{columns}");
        }
    }
}

#[test]
fn the_gradient_of_a_running_sum_runs_backwards() {
    for (name, device) in common::backends() {
        let cotangent = tensor(&device, &[1.0f32, 2.0, 4.0]);
        let gradient = |name: &str| {
            let outputs = ops::call(name, &[Some(&cotangent)], &portcullis::Params::new());
            all::<f32>(outputs.map(|o| o.into_first()))
        };
        assert_eq!(
            gradient("inclusive_scan_sum_backward"),
            [7.0, 6.0, 4.0],
            "{name}"
        );
        assert_eq!(
            gradient("exclusive_scan_sum_backward"),
            [6.0, 4.0, 0.0],
            "{name}"
        );
    }
}

#[test]
fn an_axis_that_does_not_fit_is_a_typed_error() {
    let x = Tensor::from_slice(&Device::cpu(), &[1.0f32; 6], &[2, 3]).unwrap();
    assert!(matches!(
        ops::inclusive_scan_sum(&x, 2, false),
        Err(Error::Axis { .. })
    ));
    let scalar = Tensor::from_slice(&Device::cpu(), &[1.0f32], &[]).unwrap();
    assert!(matches!(
        ops::inclusive_scan_sum(&scalar, 0, false),
        Err(Error::Axis { .. })
    ));
}
