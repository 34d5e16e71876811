//! Tensors in files: round trips, files of the formats' own writers, damage.

mod baseline;
mod foreign;
mod malformed;
mod round_trip;
mod specs;

use std::path::{Path, PathBuf};

use portcullis::{Error, HostTensor, Result, files};

/// A folder that lasts as long as the test.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("portcullis-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The path as the start of a spec.
    fn spec(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_string()
    }

    /// The names of the files in it, sorted.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = std::fs::read_dir(&self.0)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

fn fixture_tensor(name: &str) -> Result<HostTensor> {
    files::read_tensor(fixture(name).to_str().unwrap())
}

/// The problem of an [`Error::File`] that names the path it is about.
#[track_caller]
fn problem<T: std::fmt::Debug>(result: Result<T>) -> String {
    match result {
        Err(Error::File { path, problem }) => {
            assert!(!path.is_empty());
            problem
        }
        other => panic!("no file error: {other:?}"),
    }
}

/// Asserts that the result is a file error that says all of these.
#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T>, says: &[&str]) {
    let problem = problem(result);
    for part in says {
        assert!(problem.contains(part), "`{part}` is not in: {problem}");
    }
}

/// Asserts equality to the last bit.
#[track_caller]
fn same(a: &HostTensor, b: &HostTensor) {
    assert_eq!((a.dtype(), a.shape()), (b.dtype(), b.shape()));
    assert_eq!(a.bytes(), b.bytes());
}
