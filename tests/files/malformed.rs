//! Damaged and hostile files: an error each, and never a panic or a large reservation.

use std::path::Path;

use portcullis::{HostTensor, Result, files};
use proptest::prelude::*;

use super::{Folder, fixture, refused};

/// Reads `bytes` as a file of this name.
fn read_bytes(path: &Path, bytes: &[u8]) -> Result<Vec<(String, HostTensor)>> {
    std::fs::write(path, bytes).unwrap();
    files::read(path)
}

/// An `.npy` file of this header text.
fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
}

/// A `.safetensors` file of this header text.
fn safetensors(header: &str, data: &[u8]) -> Vec<u8> {
    let length = (header.len() as u64).to_le_bytes();
    [&length[..], header.as_bytes(), data].concat()
}

const WHOLE: &[&str] = &[
    "f4_v1.npy",
    "f4_v2.npy",
    "fortran_i4.npy",
    "stored.npz",
    "deflated.npz",
    "several.safetensors",
];

#[test]
fn every_truncation_is_an_error() {
    let folder = Folder::new("cut");
    for name in WHOLE {
        let bytes = std::fs::read(fixture(name)).unwrap();
        let path = folder.path(name);
        for length in 0..bytes.len() {
            let problem = super::problem(read_bytes(&path, &bytes[..length]));
            assert!(!problem.is_empty());
        }
        assert!(read_bytes(&path, &bytes).is_ok());
    }
}

#[test]
fn a_longer_file_is_an_error() {
    let folder = Folder::new("longer");
    for name in ["f4_v1.npy", "several.safetensors"] {
        let mut bytes = std::fs::read(fixture(name)).unwrap();
        bytes.push(0);
        assert!(read_bytes(&folder.path(name), &bytes).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// Any result will do, as long as there is one.
    #[test]
    fn damage_never_panics(
        file in proptest::sample::select(WHOLE),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let folder = Folder::new("damage");
        let mut bytes = std::fs::read(fixture(file)).unwrap();
        for (index, value) in changes {
            let at = index.index(bytes.len());
            bytes[at] = value;
        }
        let path = folder.path(file);
        let _ = read_bytes(&path, &bytes);
        let _ = files::read_tensor(&format!("{}:x", path.display()));
    }

    #[test]
    fn arbitrary_headers_never_panic(header in "[\\[\\](){},:'\"\\\\ \nLTF0-9a-z<>|]{0,80}") {
        let folder = Folder::new("headers");
        let _ = read_bytes(&folder.path("x.npy"), &npy(&header, &[0; 8]));
        let _ = read_bytes(&folder.path("x.safetensors"), &safetensors(&header, &[0; 8]));
    }
}

#[test]
fn npy_headers() {
    let folder = Folder::new("npy-headers");
    let path = folder.path("x.npy");
    let read = |header: &str, data: &[u8]| read_bytes(&path, &npy(header, data));
    let good = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n";
    assert!(read(good, &[0; 4]).is_ok());
    // Other spellings of the same, which Python takes.
    for same in [
        "{\"shape\":(1,),\"fortran_order\":False,\"descr\":\"<f4\"}",
        "{'descr': '<f4', 'fortran_order': True, 'shape': (1L,)}",
    ] {
        assert!(read(same, &[0; 4]).is_ok(), "{same}");
    }
    let header = |descr: &str, shape: &str| {
        format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}")
    };
    for (text, says) in [
        (header("'<f4'", "(2,)"), &["[2]", "8 bytes", "holds 4"][..]),
        (header("'<f4'", "(0,)"), &["4 bytes after"]),
        (
            header("'<f4'", "(4294967296, 4294967296)"),
            &["beyond counting"],
        ),
        (header("'<f4'", "(4611686018427387904,)"), &["holds 4"]),
        (
            header("'<f4'", "(99999999999999999999999,)"),
            &["23 digits"],
        ),
        (header("'<f4'", "(-1,)"), &["a size"]),
        (header("'<f4'", "(1)"), &["`,`"]),
        (header("'<f4'", "1"), &["`(`"]),
        (header("'|f4'", "(1,)"), &["|f4"]),
        (header("'f4'", "(1,)"), &["`f4`"]),
        (header("'>V2'", "(2,)"), &["`>V2`"]),
        (header("''", "(1,)"), &["the dtype ``"]),
        (header("'<f\\x34'", "(1,)"), &["quote"]),
        (header("('<f4', (2,))", "(1,)"), &["structured"]),
        (header("'<f4', 'descr': '<f4'", "(1,)"), &["twice"]),
        (header("'<f4', 'more': 1", "(1,)"), &["unknown key `more`"]),
        (
            good.replace("False", "0"),
            &["True or False expected at byte"],
        ),
        (good.replace("'shape': (1,),", ""), &["lacks `shape`"]),
        (good.replace("}", ""), &["a string expected"]),
        (good.to_string() + "x", &["the end"]),
        (String::new(), &["`{`"]),
        ("[".repeat(60_000), &["`{`"]),
        (
            format!("{{'descr': {}", "[".repeat(60_000)),
            &["structured"],
        ),
    ] {
        refused(read(&text, &[0; 4]), says);
    }
}

#[test]
fn npy_starts() {
    let folder = Folder::new("npy-starts");
    let path = folder.path("x.npy");
    refused(read_bytes(&path, b""), &["cut short"]);
    refused(
        read_bytes(&path, b"PK\x03\x04 and more"),
        &["does not start"],
    );
    refused(
        read_bytes(&path, b"\x93NUMPY\x04\x00\x00\x00\x00\x00"),
        &["version 4.0"],
    );
    refused(
        read_bytes(&path, b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}"),
        &["4294967295 bytes in a file of 14"],
    );
    let mut long = b"\x93NUMPY\x02\x00\x00\x00\x02\x00".to_vec();
    long.resize(12 + 0x20000, b' ');
    refused(read_bytes(&path, &long), &["131072", "limit is 65535"]);
    let header = "{'descr': '|b1', 'fortran_order': False, 'shape': (2, 1)}";
    refused(
        read_bytes(&path, &npy(header, &[1, 2])),
        &["[1, 0]", "byte 2"],
    );
}

#[test]
fn safetensors_headers() {
    let folder = Folder::new("st-headers");
    let path = folder.path("x.safetensors");
    let read = |header: &str, data: &[u8]| read_bytes(&path, &safetensors(header, data));
    let entry = |dtype: &str, shape: &str, end: u64| {
        format!(r#"{{"x":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[0,{end}]}}}}"#)
    };
    assert!(read(&entry("F32", "[2]", 8), &[0; 8]).is_ok());
    for (header, says) in [
        (
            entry("F32", "[1000000000000]", 4_000_000_000_000),
            "describes 4000000000000 bytes",
        ),
        (entry("F32", "[1]", 4), "holds 8"),
        (entry("F32", "[3]", 8), "header"),
        (entry("F32", "[4294967296,4294967296,4]", 8), "header"),
        (entry("F32", "[-2]", 8), "header"),
        (entry("F12", "[2]", 8), "header"),
        (entry("C64", "[1]", 8), "C64"),
        (entry("F8_E4M3", "[8]", 8), "F8_E4M3"),
        (entry("F32", "[2]", 8).replace("[0,8]", "[8,16]"), "header"),
        (entry("F32", "[2]", 8).replace("[0,8]", "[8,0]"), "header"),
        ("[".repeat(100_000), "header"),
        ("{".into(), "header"),
        ("\u{0}".into(), "header"),
    ] {
        refused(read(&header, &[0; 8]), &[says]);
    }
    refused(
        read_bytes(&path, &[255; 16]),
        &["18446744073709551615", "limit"],
    );
    refused(read_bytes(&path, b"short"), &["cut short"]);
}

/// The places of a 4-byte mark.
fn places(bytes: &[u8], mark: &[u8; 4]) -> Vec<usize> {
    (0..bytes.len() - 4)
        .filter(|&i| bytes[i..i + 4] == *mark)
        .collect()
}

#[test]
fn archives_that_lie() {
    let folder = Folder::new("lies");
    let path = folder.path("x.npz");
    let tensor = HostTensor::new(&[2], vec![1.0f32, 2.0]).unwrap();
    files::write(&path, &[("a".into(), &tensor), ("b".into(), &tensor)]).unwrap();
    let good = std::fs::read(&path).unwrap();
    let (locals, centrals) = (places(&good, b"PK\x03\x04"), places(&good, b"PK\x01\x02"));
    let change = |at: &[usize], value: &[u8]| {
        let mut bytes = good.clone();
        for &at in at {
            bytes[at..at + value.len()].copy_from_slice(value);
        }
        bytes
    };
    // The unpacked size.
    let bomb = change(
        &[locals[0] + 22, centrals[0] + 24],
        &0xf000_0000u32.to_le_bytes(),
    );
    refused(read_bytes(&path, &bomb), &["`a`", "announces 4026531840"]);
    let small = change(&[locals[0] + 22, centrals[0] + 24], &130u32.to_le_bytes());
    refused(read_bytes(&path, &small), &["`a`"]);
    // A tensor's last byte, against the checksum.
    let flipped = change(&[locals[1] - 1], &[0x55]);
    refused(read_bytes(&path, &flipped), &["`a`"]);
    // The second entry is the first, by another name.
    let shared = change(&[centrals[1] + 42], &0u32.to_le_bytes());
    assert!(read_bytes(&path, &shared).is_err());
    // Both entries have one name.
    let twice = change(&[locals[1] + 30, centrals[1] + 46], b"a");
    refused(read_bytes(&path, &twice), &["two files of one name"]);
    // Encrypted; packed with bzip2.
    let locked = change(&[locals[0] + 6, centrals[0] + 8], &[1]);
    refused(read_bytes(&path, &locked), &["`a`"]);
    let bzip2 = change(&[locals[0] + 8, centrals[0] + 10], &[12]);
    refused(read_bytes(&path, &bzip2), &["`a`", "savez"]);
    // The tensor inside announces more than the entry holds.
    let shape = good.windows(4).position(|w| w == b"(2,)").unwrap();
    refused(
        read_bytes(&path, &change(&[shape], b"(9,)")),
        &["`a`", "[9]", "36 bytes"],
    );
    assert!(read_bytes(&path, &good).is_ok());

    // More than deflate can make of the packed bytes.
    let mut bomb = std::fs::read(fixture("zeros.npz")).unwrap();
    let central = places(&bomb, b"PK\x01\x02")[0];
    bomb[central + 24..central + 28].copy_from_slice(&0xf000_0000u32.to_le_bytes());
    refused(read_bytes(&path, &bomb), &["announces 4026531840"]);
}
