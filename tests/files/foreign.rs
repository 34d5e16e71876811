//! Files written by numpy, ml_dtypes and safetensors (`tests/fixtures/make.py`).

use half::{bf16, f16};
use portcullis::{Element, HostTensor, files};

use super::{fixture, fixture_tensor, problem, refused, same};

#[track_caller]
fn expect<T: Element>(tensor: &HostTensor, shape: &[usize], values: &[T]) {
    same(tensor, &HostTensor::new(shape, values.to_vec()).unwrap());
}

/// The 2 x 3 array that several of the files hold.
const X: [f32; 6] = [0.5, -0.0, f32::INFINITY, 1e-40, 0.1, -65504.0];

fn bf16s() -> [bf16; 3] {
    [1.0, -2.5, 3.140625].map(bf16::from_f32)
}

#[test]
fn every_header_version() {
    for file in ["f4_v1.npy", "f4_v2.npy", "f4_v3.npy"] {
        expect(&fixture_tensor(file).unwrap(), &[2, 3], &X);
    }
}

#[test]
fn fortran_order_and_big_endian() {
    let cube: Vec<i32> = (0..24).collect();
    expect(
        &fixture_tensor("fortran_i4.npy").unwrap(),
        &[2, 3, 4],
        &cube,
    );
    let halves: Vec<f16> = (0..24u8).map(|i| f16::from_f32(i.into())).collect();
    expect(
        &fixture_tensor("fortran_big_f2.npy").unwrap(),
        &[2, 3, 4],
        &halves,
    );
    expect(&fixture_tensor("big_f4.npy").unwrap(), &[2, 3], &X);
    expect(
        &fixture_tensor("big_u4.npy").unwrap(),
        &[3],
        &[0, 1, u32::MAX],
    );
    expect(
        &fixture_tensor("big_f8.npy").unwrap(),
        &[2],
        &[1.5f32, -1.0 / 1048576.0],
    );
    expect(&fixture_tensor("big_u2.npy").unwrap(), &[2], &[1u32, 65535]);
}

#[test]
fn dtypes_that_convert() {
    expect(
        &fixture_tensor("bool.npy").unwrap(),
        &[2, 2],
        &[1u32, 0, 0, 1],
    );
    expect(&fixture_tensor("i1.npy").unwrap(), &[2], &[-128i32, 127]);
    expect(&fixture_tensor("u1.npy").unwrap(), &[2], &[0u32, 255]);
    expect(
        &fixture_tensor("i2.npy").unwrap(),
        &[2],
        &[-32768i32, 32767],
    );
    expect(
        &fixture_tensor("i8.npy").unwrap(),
        &[2],
        &[i32::MIN, i32::MAX],
    );
    expect(&fixture_tensor("u8.npy").unwrap(), &[2], &[0, u32::MAX]);
    expect(
        &fixture_tensor("f8.npy").unwrap(),
        &[5],
        &[0.5, f32::NAN, f32::NEG_INFINITY, -0.0, 0.1],
    );
}

#[test]
fn bfloat16_as_ml_dtypes_saves_it() {
    expect(&fixture_tensor("bf16.npy").unwrap(), &[3], &bf16s());
    expect(&fixture_tensor("void2.npy").unwrap(), &[3], &bf16s());
}

#[test]
fn scalar_and_empty() {
    expect(&fixture_tensor("scalar.npy").unwrap(), &[], &[7i32]);
    expect::<f32>(&fixture_tensor("empty.npy").unwrap(), &[0, 3], &[]);
}

#[test]
fn values_that_would_be_lost() {
    // In Fortran order, 0.1 is the last in the file and at [1, 1] in the array.
    refused(
        fixture_tensor("inexact_f8.npy"),
        &["[1, 1]", "0.1", "f32", "convert"],
    );
    refused(
        fixture_tensor("inexact_i8.npy"),
        &["[1, 1]", "2147483648", "i32", "convert"],
    );
    refused(
        fixture_tensor("inexact_u8.npy"),
        &["[0]", "4294967296", "u32", "convert"],
    );
    refused(
        files::read(fixture("inexact.safetensors")),
        &["`d`", "[0]", "0.1"],
    );
}

#[test]
fn arrays_that_are_not_tensors() {
    refused(fixture_tensor("object.npy"), &["object array", "astype"]);
    refused(fixture_tensor("complex.npy"), &["complex", "view"]);
    refused(fixture_tensor("structured.npy"), &["structured", "field"]);
    refused(fixture_tensor("string.npy"), &["<U4", "convert"]);
}

#[test]
fn archives() {
    for file in ["stored.npz", "deflated.npz"] {
        let tensors = files::read(fixture(file)).unwrap();
        let names: Vec<_> = tensors.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["x", "deep/name", "größe", "b"]);
        expect(&tensors[0].1, &[2, 3], &X);
        expect(&tensors[1].1, &[2, 3, 4], &(0..24).collect::<Vec<i32>>());
        expect(&tensors[2].1, &[], &[3u32]);
        expect(&tensors[3].1, &[3], &bf16s());
        expect(
            &fixture_tensor(&format!("{file}:größe")).unwrap(),
            &[],
            &[3u32],
        );
        refused(
            fixture_tensor(file),
            &["4 tensors", "`x`, `deep/name`, `größe`, `b`"],
        );
        refused(
            fixture_tensor(&format!("{file}:y")),
            &["`y`", "`x`, `deep/name`"],
        );
    }
    expect(&fixture_tensor("positional.npz").unwrap(), &[2, 3], &X);
    expect(
        &fixture_tensor("positional.npz:arr_0").unwrap(),
        &[2, 3],
        &X,
    );
    let zeros = fixture_tensor("zeros.npz").unwrap();
    assert_eq!(zeros.as_slice(), Some(&[0.0f32; 100_000][..]));
}

#[test]
fn an_archive_with_other_files() {
    expect(
        &fixture_tensor("foreign.npz:folder/x").unwrap(),
        &[2, 3],
        &X,
    );
    expect(&fixture_tensor("foreign.npz").unwrap(), &[2, 3], &X);
    refused(files::read(fixture("foreign.npz")), &["readme.txt"]);
}

#[test]
fn safetensors() {
    let path = fixture("several.safetensors");
    let tensors = files::read(&path).unwrap();
    assert_eq!(tensors.len(), 10);
    let tensor = |name: &str| {
        let alone = fixture_tensor(&format!("several.safetensors:{name}")).unwrap();
        same(&alone, &tensors.iter().find(|(n, _)| n == name).unwrap().1);
        alone
    };
    expect(&tensor("x"), &[2, 3], &X);
    expect(
        &tensor("half"),
        &[3],
        &[0.5, -0.0, f32::INFINITY].map(f16::from_f32),
    );
    expect(&tensor("b"), &[3], &bf16s());
    expect(&tensor("i"), &[1, 1], &[-1i32]);
    expect(&tensor("u"), &[], &[u32::MAX]);
    expect(&tensor("mask"), &[2], &[1u32, 0]);
    expect(&tensor("wide"), &[2], &[-5, i32::MAX]);
    expect(&tensor("double"), &[1], &[0.25f32]);
    expect(&tensor("byte"), &[1], &[200u32]);
    expect::<f32>(&tensor("none"), &[4, 0], &[]);
    assert!(problem(files::read_tensor(path.to_str().unwrap())).contains("10 tensors"));
}
