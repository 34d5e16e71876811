//! Rows that other libraries' softmax has got wrong, on every adapter, in every variant and on the CPU.

mod common;

use half::{bf16, f16};
use portcullis::{Device, Element, Tensor, ops};

fn rows<T: Element>(device: &Device, data: &[T], columns: usize) -> Tensor {
    Tensor::from_slice(device, data, &[data.len() / columns, columns]).unwrap()
}

fn all<T: Element>(tensor: portcullis::Result<Tensor>) -> Vec<T> {
    tensor.unwrap().to_vec_blocking::<T>().unwrap()
}

/// A masked row has nothing to attend to; its neighbours do not notice.
#[test]
fn a_row_of_negative_infinity_is_zeros() {
    for (name, device) in common::backends() {
        for columns in [1usize, 3, 16, 257, 2048, 9000] {
            let mut data = vec![f32::NEG_INFINITY; 3 * columns];
            data[columns..2 * columns].fill(1.5);
            let x = rows(&device, &data, columns);
            let y = all::<f32>(ops::softmax(&x, -1));
            let zero = |v: &f32| v.to_bits() == 0;
            assert!(
                y[..columns].iter().all(zero) && y[2 * columns..].iter().all(zero),
                "{name} {columns}"
            );
            let sum: f64 = y[columns..2 * columns].iter().map(|&v| v as f64).sum();
            assert!(
                (sum - 1.0).abs() < columns as f64 * f32::EPSILON as f64 + 1e-6,
                "{name} {columns}: {sum}"
            );
            let log = all::<f32>(ops::log_softmax(&x, -1));
            assert!(
                log[..columns].iter().all(|v| *v == f32::NEG_INFINITY),
                "{name} {columns}"
            );
            let expected = -(columns as f64).ln();
            assert!(
                (log[columns] as f64 - expected).abs() <= 1e-5 * expected.abs().max(1.0),
                "{name}"
            );
        }
    }
}

#[test]
fn large_numbers_do_not_overflow() {
    for (name, device) in common::backends() {
        let y = all::<f32>(ops::softmax(
            &rows(&device, &[3e38f32, 3e38, -3e38, 1e38], 4),
            -1,
        ));
        assert_eq!(y, [0.5, 0.5, 0.0, 0.0], "{name}");
        let halves = [f16::MAX, f16::MAX, f16::MIN, f16::ZERO];
        let y = all::<f16>(ops::softmax(&rows(&device, &halves, 4), -1));
        assert_eq!(y.widened(), [0.5, 0.5, 0.0, 0.0], "{name}");
        let log = all::<f32>(ops::log_softmax(&rows(&device, &[1000.0f32, 0.0], 2), -1));
        assert_eq!(log, [0.0, -1000.0], "{name}");
        let log = all::<bf16>(ops::log_softmax(
            &rows(&device, &[bf16::from_f32(1024.0), bf16::ZERO], 2),
            -1,
        ));
        assert_eq!([log[0].to_f32(), log[1].to_f32()], [0.0, -1024.0], "{name}");
    }
}

trait Widened {
    fn widened(self) -> Vec<f32>;
}

impl Widened for Vec<f16> {
    fn widened(self) -> Vec<f32> {
        self.into_iter().map(f16::to_f32).collect()
    }
}
