//! Reductions and scans by operators given as WGSL text: order is kept, whatever
//! the size, the fields and the variant.
#![cfg(feature = "user-wgsl")]

mod common;

use portcullis::{Device, Error, Tensor, ops};

const AFFINE: &str = "
fn combine(a: Element, b: Element) -> Element {
    return Element(a.scale * b.scale, a.offset * b.scale + b.offset);
}
fn identity() -> Element { return Element(1u, 0u); }";
const FIELDS: &str = "scale: u32, offset: u32";

fn affine(a: [u32; 2], b: [u32; 2]) -> [u32; 2] {
    let offset = a[1].wrapping_mul(b[0]).wrapping_add(b[1]);
    [a[0].wrapping_mul(b[0]), offset]
}

/// Maps x → scale·x + offset with odd scales, so that nothing vanishes.
fn maps(n: usize) -> Vec<[u32; 2]> {
    let word = |i: usize| (i as u32).wrapping_mul(2_654_435_761) ^ 0x5bd1_e995;
    (0..n).map(|i| [word(2 * i) | 1, word(2 * i + 1)]).collect()
}

#[test]
fn maps_are_composed_in_order() {
    for (name, device) in common::backends() {
        for n in [
            1usize, 2, 3, 4, 63, 64, 65, 255, 257, 1023, 1025, 8191, 8193, 20_001,
        ] {
            let data = maps(n);
            let x = Tensor::from_slice(&device, data.as_flattened(), &[n, 2]).unwrap();
            let y = ops::reduce(&x, AFFINE, FIELDS, &[], false).unwrap();
            let exact = data.iter().fold([1, 0], |a, &b| affine(a, b));
            assert_eq!(y.to_vec_blocking::<u32>().unwrap(), exact, "{name} {n}");

            let mut total = [1, 0];
            let mut before = Vec::new();
            let mut upto = Vec::new();
            for &map in &data {
                before.push(total);
                total = affine(total, map);
                upto.push(total);
            }
            let y = ops::inclusive_scan(&x, AFFINE, FIELDS, 0).unwrap();
            assert!(
                y.to_vec_blocking::<u32>().unwrap() == upto.as_flattened(),
                "{name} {n}"
            );
            let y = ops::exclusive_scan(&x, AFFINE, FIELDS, 0).unwrap();
            assert!(
                y.to_vec_blocking::<u32>().unwrap() == before.as_flattened(),
                "{name} {n}"
            );
        }
    }
}

#[test]
fn axes_do_not_count_the_one_that_holds_the_words() {
    for (name, device) in common::backends() {
        let (rows, columns) = (37, 6);
        let data = maps(rows * columns);
        let x = Tensor::from_slice(&device, data.as_flattened(), &[rows, columns, 2]).unwrap();
        let y = ops::reduce(&x, AFFINE, FIELDS, &[0], true).unwrap();
        assert_eq!(y.shape(), [1, columns, 2], "{name}");
        let column = |c: usize| (0..rows).fold([1, 0], |a, r| affine(a, data[r * columns + c]));
        let exact: Vec<[u32; 2]> = (0..columns).map(column).collect();
        assert_eq!(
            y.to_vec_blocking::<u32>().unwrap(),
            exact.as_flattened(),
            "{name}"
        );

        let y = ops::inclusive_scan(&x, AFFINE, FIELDS, 0).unwrap();
        let scanned = y.to_vec_blocking::<u32>().unwrap();
        assert_eq!(
            scanned[(rows - 1) * columns * 2..],
            *exact.as_flattened(),
            "{name}"
        );
        assert!(matches!(
            ops::inclusive_scan(&x, AFFINE, FIELDS, 2),
            Err(Error::Axis { .. })
        ));
    }
}

#[test]
fn nothing_reduces_to_the_identity() {
    for (name, device) in common::backends() {
        let x = Tensor::from_slice::<u32>(&device, &[], &[3, 0, 2]).unwrap();
        let y = ops::reduce(&x, AFFINE, FIELDS, &[1], false).unwrap();
        assert_eq!(
            y.to_vec_blocking::<u32>().unwrap(),
            [1, 0, 1, 0, 1, 0],
            "{name}"
        );
        let product = "fn combine(a: Element, b: Element) -> Element { return a * b; }
                       fn identity() -> Element { return Element(1); }";
        let x = Tensor::from_slice::<half::f16>(&device, &[], &[0, 5]).unwrap();
        let y = ops::reduce(&x, product, "", &[0], false).unwrap();
        assert_eq!(
            y.to_vec_blocking::<half::f16>().unwrap(),
            [half::f16::ONE; 5],
            "{name}"
        );
    }
}

#[test]
fn what_does_not_do_as_an_operator_is_a_typed_error() {
    let device = Device::cpu();
    let x = Tensor::from_slice(&device, &[1.0f32, 2.0], &[2]).unwrap();
    let reduce = |operator: &str, fields: &str| ops::reduce(&x, operator, fields, &[], false);
    let sum = "fn combine(a: Element, b: Element) -> Element { return a + b; }";
    let zero = "fn identity() -> Element { return Element(0); }";
    let whole = format!("{sum}\n{zero}");
    assert!(reduce(&whole, "").is_ok());
    assert!(matches!(reduce(sum, ""), Err(Error::Wgsl { .. })));
    assert!(matches!(
        reduce("fn combine(", ""),
        Err(Error::Wgsl { line: 1, .. })
    ));
    assert!(matches!(
        reduce(&whole, "u32"),
        Err(Error::Parameter { .. })
    ));
    assert!(matches!(
        reduce(&whole, "f64"),
        Err(Error::Parameter { .. })
    ));
    assert!(matches!(
        reduce(&whole, "a: f32, b"),
        Err(Error::Parameter { .. })
    ));
    assert!(matches!(
        reduce(&whole, "a: f32, fn: f32"),
        Err(Error::Parameter { .. })
    ));
    assert!(matches!(
        reduce(&whole, "a b: f32, c: f32"),
        Err(Error::Parameter { .. })
    ));
    let many: Vec<String> = (0..17).map(|i| format!("f{i}: f32")).collect();
    assert!(matches!(
        reduce(&whole, &many.join(",")),
        Err(Error::Parameter { .. })
    ));
    // The last axis does not hold three words.
    let triple = "fn combine(a: Element, b: Element) -> Element { return a; }
                  fn identity() -> Element { return Element(0, 0, 0); }";
    let refused = reduce(triple, "a: f32, b: f32, c: f32");
    assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    let endless = "fn combine(a: Element, b: Element) -> Element { loop { } return a; }
                   fn identity() -> Element { return Element(0); }";
    assert!(matches!(reduce(endless, ""), Err(Error::Wgsl { .. })));
}
