//! Reading and writing tensors in `.npy`, `.npz` and `.safetensors` files.
//!
//! ```
//! use portcullis::{HostTensor, files};
//!
//! let folder = std::env::temp_dir().join("portcullis-doc-files");
//! std::fs::create_dir_all(&folder).unwrap();
//! let path = folder.join("pair.npz");
//! let a = HostTensor::new(&[2, 2], vec![1.0f32, 2.0, 3.0, 4.0])?;
//! let b = HostTensor::new(&[], vec![7u32])?;
//! files::write(&path, &[("a".into(), &a), ("b".into(), &b)])?;
//!
//! let tensors = files::read(&path)?;
//! assert_eq!(tensors[0].0, "a");
//! assert_eq!(tensors[0].1.as_slice::<f32>(), a.as_slice());
//! let b = files::read_tensor(&format!("{}:b", path.display()))?;
//! assert_eq!(b.as_slice::<u32>(), Some(&[7][..]));
//! # Ok::<(), portcullis::Error>(())
//! ```
//!
//! # Dtypes
//!
//! `f32`, `f16`, `bf16`, `i32` and `u32` are read and written bit for bit. Other
//! dtypes are read when that loses nothing, and otherwise refused with an error
//! that names the first element in the way:
//!
//! | in the file | read as | refused |
//! |---|---|---|
//! | `f64` | `f32` | a number that `f32` does not hold exactly (NaN stays NaN) |
//! | `i64` | `i32` | below -2³¹, or 2³¹ and above |
//! | `u64` | `u32` | 2³² and above |
//! | `i8`, `i16` | `i32` | never |
//! | `u8`, `u16` | `u32` | never |
//! | bool | `u32`, 0 or 1 | a byte that is neither |
//!
//! Complex, object (pickled), string, date and structured arrays are refused, and
//! so are floats of 8 bits or fewer.
//!
//! numpy has no `bf16`. The `ml_dtypes` package saves it in `.npy` and `.npz` as the
//! opaque 2-byte type `V2`, which nothing else in common use produces, and so does
//! this module; `V2` is read as `bf16`. In Python, after `import ml_dtypes`, write
//! `numpy.load("x.npy").view(ml_dtypes.bfloat16)`.
//!
//! # Layout
//!
//! Big-endian and Fortran-ordered arrays are read into row-major little-endian
//! tensors, which is what is written. A `.npy` file holds one tensor and no name;
//! its name here is `""`. Bytes after the end of a tensor are an error: several
//! arrays saved into one `.npy` go into an `.npz` instead.
//!
//! # Safety of untrusted files
//!
//! No file makes this module panic, run code, or reserve more memory than the
//! file's own bytes account for (in `.npz`, than deflate can yield from them, and
//! then only as they are yielded). Files are written beside their target and
//! renamed, so that a target is always whole: the old one or the new.

mod baseline;
mod npy;
mod npy_header;
mod npz;
mod safetensors;
mod spec;
mod stage;
mod stored;

use std::fs::{File, Metadata};
use std::path::Path;

pub use baseline::{Baseline, BaselineCase};

use crate::error::{Error, Result};
use crate::host::HostTensor;
use spec::Format;
use stage::Staged;

/// What is wrong with a file, before it is known which file it is.
type Problem = String;

/// A named tensor.
type Named = (String, HostTensor);

/// Puts the path to a problem.
fn at(path: &Path) -> impl Fn(Problem) -> Error + '_ {
    |problem| Error::File {
        path: path.display().to_string(),
        problem,
    }
}

/// Opens a file for reading; a directory or a pipe is a problem here rather than
/// a puzzle further on.
fn open(path: &Path) -> Result<(File, Metadata), Problem> {
    let cannot = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_string(),
        _ => format!("cannot be opened: {e}"),
    };
    // Looked at before it is opened, because to open a pipe is to wait for its writer.
    let metadata = std::fs::metadata(path).map_err(cannot)?;
    if metadata.is_dir() {
        return Err("is a directory; name a file in it".into());
    }
    if !metadata.is_file() {
        return Err("is not a regular file; copy the data into one".into());
    }
    Ok((File::open(path).map_err(cannot)?, metadata))
}

/// Reads every tensor of a `.npy`, `.npz` or `.safetensors` file, with its name, in
/// the file's order.
///
/// The one tensor of a `.npy` file is called `""`. Metadata of a `.safetensors` file
/// is not returned.
///
/// ```
/// use portcullis::{Error, files};
/// let Err(Error::File { problem, .. }) = files::read("weights.txt") else { panic!() };
/// assert!(problem.contains(".safetensors"));
/// ```
///
/// # Errors
/// [`Error::File`] when the file is missing, malformed, of an unknown extension, or
/// holds a tensor of a dtype that is not read exactly.
pub fn read(path: impl AsRef<Path>) -> Result<Vec<Named>> {
    let path = path.as_ref();
    let read = || match Format::of(path)? {
        Format::Npy => Ok(vec![(String::new(), npy::read(path)?)]),
        Format::Npz => npz::read(path),
        Format::Safetensors => safetensors::read(path),
    };
    read().map_err(at(path))
}

/// Reads one tensor: `x.npy`, `x.npz:NAME` or `x.safetensors:NAME`.
///
/// `:NAME` may be left out when the file holds just one tensor. Only the tensor
/// asked for is read. The name starts after the first `.npz:` or `.safetensors:`;
/// use [`read`] for a file whose own path contains one.
///
/// ```
/// use portcullis::{HostTensor, files};
/// let path = std::env::temp_dir().join("portcullis-doc-read-tensor.npy");
/// let spec = path.to_str().unwrap();
/// files::write_tensor(spec, &HostTensor::new(&[3], vec![1i32, 2, 3])?)?;
/// assert_eq!(files::read_tensor(spec)?.as_slice(), Some(&[1i32, 2, 3][..]));
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// [`Error::File`] as for [`read`], and when the file holds no tensor of that name,
/// or several and none is named.
pub fn read_tensor(spec: &str) -> Result<HostTensor> {
    let (path, name) = spec::split(spec);
    let read = || match (Format::of(path)?, name) {
        (Format::Npy, _) => npy::read(path),
        (Format::Npz, name) => npz::read_one(path, name),
        (Format::Safetensors, name) => safetensors::read_one(path, name),
    };
    read().map_err(at(path))
}

/// Writes tensors to a new `.npy`, `.npz` or `.safetensors` file, which takes the
/// place of any file of that path, with all that was in it.
///
/// A `.npy` file takes one tensor, called `""`. Tensors are stored uncompressed.
///
/// ```
/// use portcullis::{HostTensor, files};
/// let path = std::env::temp_dir().join("portcullis-doc-write.safetensors");
/// let x = HostTensor::new(&[2], vec![0.5f32, 1.5])?;
/// files::write(&path, &[("x".into(), &x)])?;
/// assert_eq!(files::read(&path)?[0].1.as_slice(), x.as_slice::<f32>());
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// [`Error::File`] when two tensors share a name, the format cannot hold a name or
/// shape, the file there is read-only, or the system refuses. The path then holds
/// what it held before.
pub fn write(path: impl AsRef<Path>, tensors: &[(String, &HostTensor)]) -> Result<()> {
    let path = path.as_ref();
    let tensors: Vec<_> = tensors.iter().map(|(n, t)| (n.as_str(), *t)).collect();
    stage_file(path, &tensors)
        .and_then(Staged::commit)
        .map_err(at(path))
}

/// Writes one tensor: `x.npy`, `x.npz:NAME` or `x.safetensors:NAME`.
///
/// The file is replaced whole; [`write_all`] writes several tensors to one file.
///
/// ```
/// use portcullis::{HostTensor, files};
/// let path = std::env::temp_dir().join("portcullis-doc-write-tensor.npz");
/// let spec = format!("{}:sums", path.display());
/// files::write_tensor(&spec, &HostTensor::new(&[1], vec![9u32])?)?;
/// assert_eq!(files::read_tensor(&spec)?.shape(), [1]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// [`Error::File`] as for [`write()`].
pub fn write_tensor(spec: &str, tensor: &HostTensor) -> Result<()> {
    write_all(&[(spec, tensor)])
}

/// Writes each tensor to where its spec says; those of one file go there together.
///
/// Every file is written in full before the first takes its place, so that a file
/// that cannot be written leaves all of them as they were.
///
/// ```
/// use portcullis::{HostTensor, files};
/// let path = std::env::temp_dir().join("portcullis-doc-write-all.npz");
/// let (keys, values) = (format!("{}:keys", path.display()), format!("{}:values", path.display()));
/// let k = HostTensor::new(&[2], vec![1u32, 2])?;
/// let v = HostTensor::new(&[2], vec![0.1f32, 0.2])?;
/// files::write_all(&[(&keys, &k), (&values, &v)])?;
/// assert_eq!(files::read(&path)?.len(), 2);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// [`Error::File`] as for [`write()`], and when a spec for a `.npz` or
/// `.safetensors` file lacks its `:NAME`.
pub fn write_all<S: AsRef<str>>(outputs: &[(S, &HostTensor)]) -> Result<()> {
    let mut staged = Vec::new();
    for (path, tensors) in spec::group(outputs)? {
        staged.push((path, stage_file(path, &tensors).map_err(at(path))?));
    }
    for (path, file) in staged {
        file.commit().map_err(at(path))?;
    }
    Ok(())
}

/// Writes a whole file beside its path.
fn stage_file(path: &Path, tensors: &[(&str, &HostTensor)]) -> Result<Staged, Problem> {
    let format = Format::of(path)?;
    let mut names: Vec<&str> = tensors.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(match format {
            Format::Npy => "an .npy file holds one tensor; write several to an .npz".into(),
            _ => format!(
                "two tensors are called `{}`; give each its own name",
                pair[0]
            ),
        });
    }
    match format {
        Format::Npy => match tensors {
            [("", tensor)] => stage::write(path, |file| npy::write(file, tensor)),
            [(name, _)] => Err(format!(
                "an .npy file holds no names, and the tensor is called `{name}`; call it ``, or write an .npz"
            )),
            _ => Err(format!(
                "an .npy file holds one tensor, not {}; write an .npz",
                tensors.len()
            )),
        },
        Format::Npz => stage::write(path, |file| npz::write(file, tensors)),
        Format::Safetensors => stage::write(path, |file| safetensors::write(file, tensors)),
    }
}
