//! Baselines: the captured ones, against values read by the safetensors package for
//! Python, and broken ones.

use std::path::Path;

use half::{bf16, f16};
use portcullis::files::{Baseline, BaselineCase};
use portcullis::{DType, Element, HostTensor, Result, files};

use super::{Folder, refused};

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/baselines")
}

#[test]
fn all_that_was_captured_is_there() {
    let baseline = Baseline::read(folder()).unwrap();
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for case in &baseline.cases {
        match counts.last_mut() {
            Some((file, count)) if *file == case.file => *count += 1,
            _ => counts.push((&case.file, 1)),
        }
    }
    assert_eq!(
        counts,
        [
            ("given_attention.safetensors", 16),
            ("given_conv.safetensors", 22),
            ("given_fft.safetensors", 19),
            ("given_histogram.safetensors", 8),
            ("given_loss.safetensors", 9),
            ("given_matmul.safetensors", 30),
            ("given_movement.safetensors", 9),
            ("given_norm.safetensors", 36),
            ("given_reduce.safetensors", 27),
            ("given_scan.safetensors", 12),
            ("given_segmented.safetensors", 2),
            ("given_select.safetensors", 8),
            ("given_sort.safetensors", 12),
            ("given_sparse.safetensors", 2),
            ("given_unary.safetensors", 48),
        ]
    );
    let total = |list: fn(&BaselineCase) -> usize| baseline.cases.iter().map(list).sum::<usize>();
    assert_eq!(total(|case| case.inputs.len()), 411);
    assert_eq!(total(|case| case.outputs.len()), 272);
    assert_eq!(total(|case| case.cotangents.len()), 145);
    assert_eq!(total(|case| case.gradients.len()), 247);
    for case in &baseline.cases {
        assert!(DType::parse(&case.dtype).is_some(), "{}", case.name);
        assert!(case.other.is_empty() && case.milliseconds.is_some());
    }
}

/// The named tensor's first bits, and the sum of its elements.
#[track_caller]
fn check<T: Element>(
    tensors: &[(String, HostTensor)],
    name: &str,
    shape: &[usize],
    first: &[T],
    sum: f64,
) {
    let (_, tensor) = tensors.iter().find(|(known, _)| known == name).unwrap();
    assert_eq!(tensor.shape(), shape);
    assert_eq!(&tensor.as_slice::<T>().unwrap()[..first.len()], first);
    let total: f64 = tensor.to_f64().iter().sum();
    assert!((total - sum).abs() <= 1e-9 * sum.abs(), "{total} != {sum}");
}

#[test]
fn values_are_those_that_python_reads() {
    let baseline = Baseline::read(folder()).unwrap();
    let case = |name: &str| baseline.cases.iter().find(|c| c.name == name).unwrap();

    let mm = case("mm_bf16_17x33x9");
    assert_eq!((mm.op.as_str(), mm.dtype.as_str()), ("matmul", "bf16"));
    assert_eq!(mm.device, "NVIDIA H200");
    assert_eq!(mm.torch.as_deref(), Some("2.11.0+cu130"));
    assert_eq!(mm.milliseconds, Some(0.0424));
    assert_eq!(mm.peak_bytes, Some(68_160_512));
    assert_eq!(mm.params.len(), 2);
    assert_eq!(mm.params["trans_a"], false);
    let b = |bits: [u16; 3]| bits.map(bf16::from_bits);
    check(
        &mm.inputs,
        "a",
        &[17, 33],
        &b([16213, 48949, 16396]),
        9.762029647827148,
    );
    check(
        &mm.gradients,
        "b",
        &[33, 9],
        &b([49350, 49286, 49015]),
        32.84423828125,
    );
    check(
        &mm.cotangents,
        "y",
        &[17, 9],
        &b([49026, 49012, 48841]),
        -10.938034057617188,
    );
    let h = [47927, 47578, 46554].map(f16::from_bits);
    check(
        &case("mm_f16_17x33x9").inputs,
        "a",
        &[17, 33],
        &h,
        -23.41684925556183,
    );

    let sort = case("sort_i32_desc_257");
    check(&sort.inputs, "keys", &[257], &[94i32, 43, 51, 37], 13176.0);
    check(
        &sort.outputs,
        "indices",
        &[257],
        &[91i32, 135, 41, 63],
        32896.0,
    );

    let sum = case("sum_4099");
    let f = [1069909366, 3206533919].map(f32::from_bits);
    check(&sum.inputs, "x", &[4099], &f, -30.683523885003524);
    check(
        &sum.outputs,
        "y",
        &[],
        &[f32::from_bits(3254089692)],
        -30.68352508544922,
    );
}

/// Reads a baseline with this text under `cases` and these tensors of one element.
fn read(path: &Path, cases: Option<&str>, tensors: &[&str]) -> Result<Baseline> {
    let mut header = serde_json::Map::new();
    if let Some(cases) = cases {
        header.insert("__metadata__".into(), serde_json::json!({ "cases": cases }));
    }
    for (i, name) in tensors.iter().enumerate() {
        let entry = serde_json::json!(
            {"dtype": "F32", "shape": [1], "data_offsets": [4 * i, 4 * i + 4]}
        );
        header.insert(name.to_string(), entry);
    }
    let header = serde_json::to_vec(&header).unwrap();
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header);
    bytes.extend(vec![0; 4 * tensors.len()]);
    std::fs::write(path, bytes).unwrap();
    Baseline::read(path)
}

const CASE: &str = r#"{"op": "neg", "params": {}, "dtype": "f32", "device": "none"}"#;

#[test]
fn a_small_baseline() {
    let folder = Folder::new("baseline-small");
    let path = folder.path("b.safetensors");
    let about = CASE.replace(r#""device""#, r#""ms": null, "note": [1], "device""#);
    let cases = format!(r#"{{"z": {CASE}, "a": {about}}}"#);
    let tensors = ["z/out/y", "a/grad/deep/x", "a/in/w", "a/in/b"];
    let baseline = read(&path, Some(&cases), &tensors).unwrap();
    let [z, a] = &baseline.cases[..] else {
        panic!("{baseline:?}");
    };
    assert_eq!((z.name.as_str(), a.name.as_str()), ("z", "a"));
    assert_eq!(z.file, "b.safetensors");
    assert_eq!((a.milliseconds, a.peak_bytes), (None, None));
    assert_eq!(a.other["note"], serde_json::json!([1]));
    assert_eq!(a.gradients[0].0, "deep/x");
    assert_eq!((a.inputs[0].0.as_str(), a.inputs[1].0.as_str()), ("b", "w"));
}

#[test]
fn nothing_is_lost_in_silence() {
    let folder = Folder::new("baseline-broken");
    let path = folder.path("b.safetensors");
    let one = format!(r#"{{"c": {CASE}}}"#);
    let refuse = |cases: Option<&str>, tensors: &[&str], says: &[&str]| {
        refused(read(&path, cases, tensors), says);
    };
    refuse(None, &["c/out/y"], &["metadata", "`cases`"]);
    refuse(Some("not JSON"), &[], &["no JSON object"]);
    refuse(Some("[]"), &[], &["no JSON object"]);
    refuse(
        Some(&one),
        &["c/out/y", "d/out/y"],
        &["`d/out/y`", "no case"],
    );
    refuse(Some(&one), &["c/out/y", "c"], &["`c`", "role"]);
    refuse(
        Some(&one),
        &["c/out/y", "c/side/y"],
        &["`c/side/y`", "role"],
    );
    refuse(Some(&one), &["c/out/y", "c/in/"], &["`c/in/`", "no name"]);
    refuse(Some(&one), &["c/in/x"], &["`c`", "nothing to check"]);
    refuse(Some(&one), &[], &["`c`", "nothing to check"]);
    refuse(
        Some(&one.replace("\"c\"", "\"c/d\"")),
        &[],
        &["`c/d`", "no `/`"],
    );
    for (from, to, says) in [
        (r#""op": "neg", "#, "", "`op` is missing"),
        (r#""params": {}, "#, "", "`params` is missing"),
        (r#""params": {}"#, r#""params": 3"#, "`params` is 3"),
        (r#""f32""#, "32", "`dtype` is 32"),
        (r#""none""#, "null", "`device` is missing"),
        (r#""none""#, r#""none", "ms": -1"#, "`ms` is -1"),
        (
            r#""none""#,
            r#""none", "peak_bytes": 1.5"#,
            "`peak_bytes` is 1.5",
        ),
    ] {
        refuse(Some(&one.replace(from, to)), &["c/out/y"], &["`c`", says]);
    }
    refuse(Some(r#"{"c": 1}"#), &["c/out/y"], &["`c`", "object"]);
}

#[test]
fn a_folder_without_baselines() {
    let folder = Folder::new("baseline-none");
    refused(Baseline::read(&folder.0), &["no .safetensors"]);
    refused(Baseline::read(folder.path("missing")), &["no such file"]);
    let x = HostTensor::new(&[1], vec![1.0f32]).unwrap();
    files::write_tensor(&folder.spec("plain.safetensors:x"), &x).unwrap();
    refused(Baseline::read(&folder.0), &["`cases`"]);
}
