//! Sorts that other libraries have got wrong, on every adapter, in every variant and on the CPU.

mod common;

use portcullis::device::Capabilities;
use portcullis::operation::Call;
use portcullis::{
    DType, Device, Element, Error, Params, Tensor, TensorSpec, Variant, ops, registry,
};

fn tensor<T: Element>(device: &Device, data: &[T]) -> Tensor {
    Tensor::from_slice(device, data, &[data.len()]).unwrap()
}

fn all<T: Element>(tensor: &Tensor) -> Vec<T> {
    tensor.to_vec_blocking::<T>().unwrap()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

#[test]
fn zeros_of_either_sign_are_equal_and_keep_their_order() {
    let keys: Vec<f32> = (0..1000)
        .map(|i| if i % 3 == 0 { -0.0 } else { 0.0 })
        .collect();
    let payload: Vec<u32> = (0..1000).map(|i| 7 * i + 3).collect();
    for (name, device) in common::backends() {
        for descending in [false, true] {
            let (k, v) = (tensor(&device, &keys), tensor(&device, &payload));
            let (sorted, moved) = ops::sort_by_key(&k, &v, descending).unwrap();
            assert_eq!(bits(&all(&sorted)), bits(&keys), "{name}: bits are kept");
            assert_eq!(all::<u32>(&moved), payload, "{name}: input order");
        }
    }
}

#[test]
fn every_nan_comes_last_whatever_its_sign() {
    let mut keys: Vec<f32> = (0..200).map(|i| (i * 37 % 200) as f32 - 100.0).collect();
    for (i, nan) in [
        (3, 0xffc0_0000u32),
        (50, 0x7fc0_0000),
        (51, 0xff80_0001),
        (199, 0xffff_ffff),
    ] {
        keys[i] = f32::from_bits(nan);
    }
    keys[7] = f32::INFINITY;
    keys[8] = f32::NEG_INFINITY;
    let mut numbers: Vec<f32> = keys.iter().copied().filter(|k| !k.is_nan()).collect();
    numbers.sort_by(f32::total_cmp);
    let nans: Vec<u32> = bits(&keys)
        .into_iter()
        .filter(|b| f32::from_bits(*b).is_nan())
        .collect();
    for (name, device) in common::backends() {
        let sorted = bits(&all(&ops::sort(&tensor(&device, &keys), false).unwrap()));
        assert_eq!(sorted[..196], bits(&numbers), "{name}");
        assert_eq!(sorted[196..], nans, "{name}: stable, with their bits");
    }
}

#[test]
fn no_bits_is_a_copy() {
    let keys: Vec<u32> = (0..777u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    for (name, device) in common::backends() {
        for bit in [0i64, 5, 32] {
            let params = Params::new().with("begin_bit", bit).with("end_bit", bit);
            let outputs = ops::call("sort", &[Some(&tensor(&device, &keys))], &params).unwrap();
            assert_eq!(all::<u32>(&outputs.into_first()), keys, "{name} {bit}");
        }
    }
}

/// After an odd and an even number of passes, of 8-bit and of 4-bit digits.
#[test]
fn payload_follows_its_key() {
    let keys: Vec<u32> = (0..5000u32)
        .map(|i| i.wrapping_mul(2_654_435_761) >> 4)
        .collect();
    let values: Vec<f32> = (0..5000).map(|i| -(i as f32) / 8.0).collect();
    for (name, device) in common::backends() {
        for end in [4u32, 8, 12, 16, 24, 28, 32] {
            let params = Params::new().with("end_bit", end as i64);
            let (k, v) = (tensor(&device, &keys), tensor(&device, &values));
            let moved = ops::call("sort_by_key", &[Some(&k), Some(&v)], &params)
                .unwrap()
                .into_tensors();
            let mut expected: Vec<usize> = (0..5000).collect();
            expected.sort_by_key(|&i| keys[i] & (u64::MAX >> (64 - end)) as u32);
            let sorted: Vec<u32> = expected.iter().map(|&i| keys[i]).collect();
            assert_eq!(all::<u32>(&moved[0]), sorted, "{name} {end}");
            let followed: Vec<f32> = expected.iter().map(|&i| values[i]).collect();
            assert_eq!(all::<f32>(&moved[1]), followed, "{name} {end}");
        }
    }
}

/// More elements than a 32-bit size holds bytes of, and than any index has bits for.
#[test]
fn the_largest_sizes_are_planned_or_refused() {
    for n in [u32::MAX as usize, 1 << 33] {
        for variant in [Variant::Portable, Variant::Subgroup] {
            let spec = TensorSpec::new(DType::U32, [n]);
            let call = Call::new(
                registry::find("sort").unwrap(),
                vec![Some(spec)],
                &Params::new(),
            );
            let mut capabilities = Capabilities::baseline();
            capabilities.subgroups = Some(portcullis::device::SubgroupSizes { min: 32, max: 32 });
            for room in [1u64 << 27, 1 << 40] {
                capabilities.limits.max_buffer_size = room;
                capabilities.limits.max_storage_buffer_binding_size = room;
                let planned = call
                    .clone()
                    .and_then(|call| call.operation.plan(&call, variant, &capabilities));
                match planned {
                    Ok(plan) => assert!(room > 1 << 34 && n <= u32::MAX as usize, "{plan:?}"),
                    Err(Error::Limit {
                        asked,
                        limit,
                        way_out,
                        ..
                    }) => {
                        assert!(asked > limit && !way_out.is_empty(), "{n} {asked} {limit}");
                    }
                    Err(other) => panic!("{other}"),
                }
            }
        }
    }
}
