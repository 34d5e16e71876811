//! Products that other libraries have got wrong, on every adapter, in every variant and on the CPU.

mod common;

use portcullis::{Device, Error, Tensor, ops};

/// Small integers, whose products and sums are exact in f32.
fn integers(device: &Device, shape: &[usize], seed: usize) -> (Tensor, Vec<i64>) {
    let n: usize = shape.iter().product();
    let data: Vec<i64> = (0..n)
        .map(|i| ((i * 7919 + seed * 104_729) % 17) as i64 - 8)
        .collect();
    let floats: Vec<f32> = data.iter().map(|&v| v as f32).collect();
    (Tensor::from_slice(device, &floats, shape).unwrap(), data)
}

fn check(name: &str, device: &Device, a_shape: &[usize], b_shape: &[usize]) {
    let (a, a_data) = integers(device, a_shape, 1);
    let (b, b_data) = integers(device, b_shape, 2);
    let [m, k] = a_shape[a_shape.len() - 2..] else {
        panic!()
    };
    let n = b_shape[b_shape.len() - 1];
    let batch: usize = a_shape[..a_shape.len() - 2].iter().product();
    let y = ops::matmul(&a, &b)
        .unwrap()
        .to_vec_blocking::<f32>()
        .unwrap();
    for g in 0..batch {
        for i in 0..m {
            let row = &a_data[(g * m + i) * k..][..k];
            let mut sums = vec![0i64; n];
            for (l, &x) in row.iter().enumerate() {
                let other = &b_data[(g * k + l) * n..][..n];
                sums.iter_mut().zip(other).for_each(|(s, &w)| *s += x * w);
            }
            let expected: Vec<f32> = sums.iter().map(|&s| s as f32).collect();
            assert_eq!(
                y[(g * m + i) * n..][..n],
                expected,
                "{name} {a_shape:?} {b_shape:?} row {i}"
            );
        }
    }
}

#[test]
fn batched_and_odd_shapes() {
    for (name, device) in common::backends() {
        check(&name, &device, &[1, 8, 512, 512], &[1, 8, 512, 32]);
        check(&name, &device, &[257, 384], &[384, 257]);
        check(&name, &device, &[384, 257], &[257, 384]);
    }
}

#[test]
fn many_rows() {
    for (name, device) in common::backends() {
        for m in [499usize, 500, 513, 1025] {
            check(&name, &device, &[m, 33], &[33, 17]);
        }
        check(&name, &device, &[5000, 3], &[3, 1]);
        check(&name, &device, &[1, 5000], &[5000, 3]);
    }
}

#[test]
fn nothing_to_add_is_zeros_and_a_misfit_is_a_typed_error() {
    for (name, device) in common::backends() {
        let a = Tensor::from_slice::<f32>(&device, &[], &[3, 0]).unwrap();
        let b = Tensor::from_slice::<f32>(&device, &[], &[0, 2]).unwrap();
        let y = ops::matmul(&a, &b).unwrap();
        assert_eq!(
            (y.shape(), y.to_vec_blocking::<f32>().unwrap()),
            (&[3, 2][..], vec![0.0; 6]),
            "{name}"
        );
        let error = ops::matmul(&a, &a).unwrap_err();
        assert!(matches!(error, Error::Shape { .. }), "{name}: {error}");
    }
}
