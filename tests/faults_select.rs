//! Compactions that other libraries have got wrong, on every adapter, in every variant and on the CPU.

mod common;

use portcullis::{Device, Element, Error, Tensor, ops};

fn tensor<T: Element>(device: &Device, data: &[T]) -> Tensor {
    Tensor::from_slice(device, data, &[data.len()]).unwrap()
}

fn counted<T: Element>(counted: &ops::Counted) -> Vec<T> {
    counted
        .trim_blocking()
        .unwrap()
        .to_vec_blocking::<T>()
        .unwrap()
}

#[test]
fn a_nan_is_one_run_and_so_are_several() {
    for (name, device) in common::backends() {
        let (values, lengths) = ops::run_length_encode(&tensor(&device, &[f32::NAN])).unwrap();
        assert_eq!(lengths.count_blocking().unwrap(), 1, "{name}");
        assert!(counted::<f32>(&values)[0].is_nan(), "{name}");
        let nans = [0x7fc0_0000u32, 0xffc0_0001, 0x7f80_0001].map(f32::from_bits);
        let data = [nans[0], nans[1], nans[2], 0.0, -0.0, 1.0];
        let (values, lengths) = ops::run_length_encode(&tensor(&device, &data)).unwrap();
        assert_eq!(counted::<i32>(&lengths), [3, 2, 1], "{name}");
        let firsts: Vec<u32> = counted::<f32>(&values)
            .iter()
            .map(|v| v.to_bits())
            .collect();
        assert_eq!(
            firsts,
            [0x7fc0_0000, 0, 0x3f80_0000],
            "{name}: the first one's bits"
        );
    }
}

#[test]
fn of_nothing_there_is_nothing() {
    for (name, device) in common::backends() {
        let x = Tensor::from_slice::<f32>(&device, &[], &[0]).unwrap();
        let mask = Tensor::from_slice::<i32>(&device, &[], &[0]).unwrap();
        assert_eq!(
            ops::select(&x, &mask).unwrap().count_blocking().unwrap(),
            0,
            "{name}"
        );
        assert_eq!(
            ops::unique(&x).unwrap().count_blocking().unwrap(),
            0,
            "{name}"
        );
        let (values, lengths) = ops::run_length_encode(&x).unwrap();
        assert_eq!(counted::<f32>(&values), [0.0; 0], "{name}");
        assert_eq!(counted::<i32>(&lengths), [0; 0], "{name}");
        let (parts, count) = ops::partition(&x, &mask).unwrap();
        assert!(parts.is_empty(), "{name}");
        assert_eq!(count.to_vec_blocking::<u32>().unwrap(), [0], "{name}");
    }
}

/// Every size within a tile and the next, with what is selected known by arithmetic.
#[test]
fn every_third_of_every_size() {
    for (name, device) in common::backends() {
        for n in (2040..2056).chain([4095, 4096, 4097, 6000, 100_000]) {
            let data: Vec<u32> = (0..n).collect();
            let mask: Vec<u32> = (0..n).map(|i| (i % 3 == 1) as u32).collect();
            let (x, mask) = (tensor(&device, &data), tensor(&device, &mask));
            let selected = ops::select(&x, &mask).unwrap();
            let expected: Vec<u32> = (0..(n + 1) / 3).map(|k| 3 * k + 1).collect();
            assert_eq!(counted::<u32>(&selected), expected, "{name} {n}");
            assert_eq!(selected.capacity(), n as usize);
        }
    }
}

/// A sort, the distinct values and how often each occurs: a histogram without bins.
#[test]
fn sorted_values_are_counted_without_a_read() {
    let data: Vec<i32> = (0..10_000).map(|i: i32| (i * i) % 101 - 50).collect();
    let mut counts = std::collections::BTreeMap::new();
    data.iter()
        .for_each(|v| *counts.entry(*v).or_insert(0) += 1);
    for (name, device) in common::backends() {
        let sorted = ops::sort(&tensor(&device, &data), false).unwrap();
        let (values, lengths) = ops::run_length_encode(&sorted).unwrap();
        assert_eq!(
            counted::<i32>(&values),
            counts.keys().copied().collect::<Vec<_>>(),
            "{name}"
        );
        assert_eq!(
            counted::<i32>(&lengths),
            counts.values().copied().collect::<Vec<_>>(),
            "{name}"
        );
    }
}

#[test]
fn a_mask_that_does_not_fit_is_a_typed_error() {
    for (name, device) in common::backends() {
        let x = tensor(&device, &[1.0f32, 2.0]);
        let short = ops::select(&x, &tensor(&device, &[1i32])).unwrap_err();
        assert!(matches!(short, Error::Shape { .. }), "{name}: {short}");
        let floats = ops::partition(&x, &x).unwrap_err();
        assert!(matches!(floats, Error::DType { .. }), "{name}: {floats}");
    }
}
