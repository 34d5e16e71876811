//! Which file and which tensor in it: `x.npy`, `x.npz:NAME`, `x.safetensors:NAME`.

use std::path::{Path, PathBuf};

use super::{Problem, at};
use crate::error::{Error, Result};
use crate::host::HostTensor;

/// A file format, told by the extension alone: what a file claims to be decides
/// which error it deserves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Npy,
    Npz,
    Safetensors,
}

impl Format {
    pub(super) fn of(path: &Path) -> Result<Format, Problem> {
        let extension = path.extension().map(|e| e.to_string_lossy());
        match extension.as_deref().map(str::to_ascii_lowercase).as_deref() {
            Some("npy") => Ok(Format::Npy),
            Some("npz") => Ok(Format::Npz),
            Some("safetensors") => Ok(Format::Safetensors),
            // `x.npy:NAME`, which `split` leaves whole.
            Some(other) if other.starts_with("npy:") => {
                Err("an .npy file holds one tensor and no names; leave the name out".into())
            }
            other => Err(format!(
                "{}; tensors are in files that end in .npy, .npz or .safetensors",
                match other {
                    Some(other) => format!("the extension `.{other}` is unknown"),
                    None => "there is no extension".into(),
                }
            )),
        }
    }
}

/// A spec as its file and the name after it.
pub(super) fn split(spec: &str) -> (&Path, Option<&str>) {
    let lower = spec.to_ascii_lowercase();
    [".npz:", ".safetensors:"]
        .into_iter()
        .filter_map(|mark| lower.find(mark).map(|at| at + mark.len()))
        .min()
        .map_or((Path::new(spec), None), |end| {
            (Path::new(&spec[..end - 1]), Some(&spec[end..]))
        })
}

/// The tensors for one file, by name.
type Group<'a> = (&'a Path, Vec<(&'a str, &'a HostTensor)>);

/// Outputs by file, in the order of first mention. `./x.npz` and `x.npz` are one
/// file: written as two, the second would take the place of the first.
pub(super) fn group<'a, S: AsRef<str>>(
    outputs: &'a [(S, &'a HostTensor)],
) -> Result<Vec<Group<'a>>> {
    let mut groups: Vec<(PathBuf, Group<'a>)> = Vec::new();
    for (spec, tensor) in outputs {
        let (path, name) = split(spec.as_ref());
        let name = match (Format::of(path).map_err(at(path))?, name) {
            (Format::Npy, _) => "",
            (_, Some(name)) => name,
            (_, None) => {
                return Err(Error::File {
                    path: path.display().to_string(),
                    problem: format!("name the tensor to write, as in `{}:x`", path.display()),
                });
            }
        };
        let identity = identity(path);
        match groups.iter_mut().find(|(known, _)| *known == identity) {
            Some((_, (_, tensors))) => tensors.push((name, tensor)),
            None => groups.push((identity, (path, vec![(name, tensor)]))),
        }
    }
    Ok(groups.into_iter().map(|(_, group)| group).collect())
}

/// The path with links and dots resolved, as far as it exists: where a write ends up.
pub(super) fn identity(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_path_buf(),
    }
}

/// The index of the tensor asked for among those in a file.
pub(super) fn choose(names: &[&str], asked: Option<&str>) -> Result<usize, Problem> {
    let held = || {
        let shown: Vec<_> = names.iter().take(16).map(|n| format!("`{n}`")).collect();
        let more = if names.len() > 16 { ", ..." } else { "" };
        format!("{}{more}", shown.join(", "))
    };
    match asked {
        _ if names.is_empty() => Err("the file holds no tensors".into()),
        Some(asked) => names.iter().position(|name| *name == asked).ok_or_else(|| {
            format!(
                "no tensor is called `{asked}`; the file holds {} tensor(s): {}",
                names.len(),
                held()
            )
        }),
        None if names.len() == 1 => Ok(0),
        None => Err(format!(
            "the file holds {} tensors; name one after a colon: {}",
            names.len(),
            held()
        )),
    }
}
