//! What is written is read back, bit for bit.

use portcullis::{DType, HostTensor, files};
use proptest::prelude::*;

use super::{Folder, same};

/// A tensor of any dtype and bits, of rank 0 to 4, often empty.
fn tensor() -> impl Strategy<Value = HostTensor> {
    (
        proptest::sample::select(DType::ALL),
        proptest::collection::vec(0usize..6, 0..5),
    )
        .prop_flat_map(|(dtype, shape)| {
            let bytes = shape.iter().product::<usize>() * dtype.size();
            proptest::collection::vec(any::<u8>(), bytes)
                .prop_map(move |bytes| HostTensor::from_bytes(dtype, &shape, &bytes).unwrap())
        })
}

/// Names with everything that a path or a header could trip over.
fn name() -> impl Strategy<Value = String> {
    proptest::collection::vec(
        proptest::sample::select(&['a', 'B', '.', ':', ' ', '\'', '"', '\\', '/', 'é', '漢'][..]),
        0..8,
    )
    .prop_map(|chars| chars.into_iter().collect::<String>() + "x")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn npy(tensor in tensor()) {
        let folder = Folder::new("round-npy");
        let spec = folder.spec("x.npy");
        files::write_tensor(&spec, &tensor).unwrap();
        same(&files::read_tensor(&spec).unwrap(), &tensor);
        prop_assert_eq!(folder.names(), ["x.npy"]);
    }

    #[test]
    fn several(named in proptest::collection::btree_map(name(), tensor(), 0..6)) {
        let folder = Folder::new("round-several");
        let tensors: Vec<_> = named.iter().map(|(name, t)| (name.clone(), t)).collect();
        for file in ["x.npz", "x.safetensors"] {
            files::write(folder.path(file), &tensors).unwrap();
            let mut back = files::read(folder.path(file)).unwrap();
            back.sort_by(|a, b| a.0.cmp(&b.0));
            prop_assert_eq!(back.len(), named.len());
            for ((name, tensor), (wanted_name, wanted)) in back.iter().zip(&named) {
                prop_assert_eq!(name, wanted_name);
                same(tensor, wanted);
                let spec = format!("{}:{name}", folder.spec(file));
                same(&files::read_tensor(&spec).unwrap(), wanted);
            }
        }
    }
}

#[test]
fn scalars_and_nothing_in_every_format() {
    let folder = Folder::new("round-edges");
    for &dtype in DType::ALL {
        for shape in [&[][..], &[0], &[3, 0, 2], &[0, usize::MAX], &[1, 1, 1]] {
            let tensor = HostTensor::zeros(dtype, shape);
            for spec in ["x.npy", "x.npz:t", "x.safetensors:t"] {
                let spec = folder.spec(spec);
                files::write_tensor(&spec, &tensor).unwrap();
                same(&files::read_tensor(&spec).unwrap(), &tensor);
            }
        }
    }
}

#[test]
fn no_tensors_at_all() {
    let folder = Folder::new("round-none");
    for file in ["x.npz", "x.safetensors"] {
        files::write(folder.path(file), &[]).unwrap();
        assert!(files::read(folder.path(file)).unwrap().is_empty());
        super::refused(files::read_tensor(&folder.spec(file)), &["no tensors"]);
    }
}

#[test]
fn larger_than_any_buffer() {
    let folder = Folder::new("round-large");
    let values: Vec<u32> = (0..200_003u32)
        .map(|i| i.wrapping_mul(2_654_435_761))
        .collect();
    let tensor = HostTensor::new(&[values.len()], values).unwrap();
    for spec in ["x.npy", "x.npz:t", "x.safetensors:t"] {
        let spec = folder.spec(spec);
        files::write_tensor(&spec, &tensor).unwrap();
        same(&files::read_tensor(&spec).unwrap(), &tensor);
    }
}

#[test]
fn the_longest_header() {
    let folder = Folder::new("round-header");
    let spec = folder.spec("x.npy");
    let tensor = HostTensor::zeros(DType::F32, &vec![1; 21_000]);
    files::write_tensor(&spec, &tensor).unwrap();
    same(&files::read_tensor(&spec).unwrap(), &tensor);
    let tensor = HostTensor::zeros(DType::F32, &vec![1; 22_000]);
    super::refused(
        files::write_tensor(&spec, &tensor),
        &["rank 22000", "65535"],
    );
    assert_eq!(folder.names(), ["x.npy"]);
}
