//! Baselines: what another library computed, and what from, as cases to check against.

use std::path::Path;

use serde_json::{Map, Value};

use super::safetensors::Contents;
use super::{Named, Problem, at};
use crate::error::Result;

/// Cases captured from another library, from one file or a folder of them.
///
/// A baseline is a `.safetensors` file with tensors called `CASE/in/NAME`,
/// `CASE/out/NAME`, `CASE/cotangent/NAME` and `CASE/grad/NAME`, and metadata under
/// the key `cases`: a JSON object of, for each case, `op`, `params`, `dtype`,
/// `device` and, where they were recorded, `torch`, `ms` and `peak_bytes`.
#[derive(Debug, Clone)]
pub struct Baseline {
    /// The cases, by file and in the order of each file's metadata.
    pub cases: Vec<BaselineCase>,
}

/// One operation on given inputs, with what came of it.
#[derive(Debug, Clone)]
pub struct BaselineCase {
    /// The name of the file that holds the case, without its folder.
    pub file: String,
    /// The case's name, unique within the file.
    pub name: String,
    /// The operation.
    pub op: String,
    /// The operation's parameters.
    pub params: Map<String, Value>,
    /// The dtype computed in.
    pub dtype: String,
    /// The device computed on.
    pub device: String,
    /// The version of torch that computed it, if known.
    pub torch: Option<String>,
    /// The median time on the device, if known.
    pub milliseconds: Option<f64>,
    /// The most device memory in use at any time, if known.
    pub peak_bytes: Option<u64>,
    /// What else the metadata says of the case.
    pub other: Map<String, Value>,
    /// What went in, by name in alphabetical order, as are the following.
    pub inputs: Vec<Named>,
    /// What came out: values as computed, not exact ones.
    pub outputs: Vec<Named>,
    /// The gradients of outputs that the backward pass started from.
    pub cotangents: Vec<Named>,
    /// The gradients of inputs that it arrived at.
    pub gradients: Vec<Named>,
}

impl Baseline {
    /// Reads a `.safetensors` file, or every one in a folder in the order of their
    /// names.
    ///
    /// ```
    /// use portcullis::files::Baseline;
    /// let baseline = Baseline::read("tests/baselines/given_histogram.safetensors")?;
    /// let case = &baseline.cases[0];
    /// assert_eq!((case.name.as_str(), case.op.as_str()), ("bincount_1", "histogram"));
    /// assert_eq!(case.params["bins"], 64);
    /// assert_eq!(case.outputs[0].1.shape(), [64]);
    /// # Ok::<(), portcullis::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::File`](crate::Error::File) when a file cannot be read or has no cases,
    /// a tensor belongs to no case, or a case has nothing to check. A folder
    /// without `.safetensors` files is an error too.
    pub fn read(path: impl AsRef<Path>) -> Result<Baseline> {
        let path = path.as_ref();
        if !path.is_dir() {
            let cases = read_file(path).map_err(at(path))?;
            return Ok(Baseline { cases });
        }
        let unlisted = |e: std::io::Error| at(path)(format!("cannot be listed: {e}"));
        let mut files = Vec::new();
        for entry in std::fs::read_dir(path).map_err(unlisted)? {
            let file = entry.map_err(unlisted)?.path();
            if file.extension().is_some_and(|e| e == "safetensors") {
                files.push(file);
            }
        }
        if files.is_empty() {
            return Err(at(path)(
                "the folder has no .safetensors file; name another".into(),
            ));
        }
        files.sort();
        let mut cases = Vec::new();
        for file in &files {
            cases.extend(read_file(file).map_err(at(file))?);
        }
        Ok(Baseline { cases })
    }
}

fn read_file(path: &Path) -> Result<Vec<BaselineCase>, Problem> {
    let mut contents = Contents::open(path)?;
    let text = contents
        .metadata("cases")
        .ok_or("has no metadata under `cases`, which says what was computed; capture it again")?;
    let described: Map<String, Value> = serde_json::from_str(text)
        .map_err(|e| format!("the metadata under `cases` is no JSON object: {e}"))?;
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let mut cases = Vec::with_capacity(described.len());
    for (name, about) in described {
        cases.push(describe(&file, &name, about).map_err(|p| format!("case `{name}`: {p}"))?);
    }

    for index in 0..contents.tensors.len() {
        let name = contents.tensors[index].0.clone();
        let mut parts = name.splitn(3, '/');
        let (case, role, local) = (parts.next(), parts.next(), parts.next().unwrap_or(""));
        let stray = |why: &str| {
            format!(
                "tensor `{name}` {why}; tensors are called CASE/in/NAME, CASE/out/NAME, CASE/cotangent/NAME or CASE/grad/NAME"
            )
        };
        let case = cases
            .iter_mut()
            .find(|known| Some(known.name.as_str()) == case)
            .ok_or_else(|| stray("belongs to no case of the metadata"))?;
        let list = match role {
            Some("in") => &mut case.inputs,
            Some("out") => &mut case.outputs,
            Some("cotangent") => &mut case.cotangents,
            Some("grad") => &mut case.gradients,
            _ => return Err(stray("has no known role in its case")),
        };
        if local.is_empty() {
            return Err(stray("has no name within its case"));
        }
        list.push((local.to_string(), contents.tensor(index)?));
    }

    for case in &mut cases {
        if case.outputs.is_empty() && case.gradients.is_empty() {
            return Err(format!(
                "case `{}` has no `out` or `grad` tensor, and so nothing to check; capture it again",
                case.name
            ));
        }
        for list in [
            &mut case.inputs,
            &mut case.outputs,
            &mut case.cotangents,
            &mut case.gradients,
        ] {
            list.sort_by(|(a, _), (b, _)| a.cmp(b));
        }
    }
    Ok(cases)
}

/// A case without its tensors, from what the metadata says of it.
fn describe(file: &str, name: &str, about: Value) -> Result<BaselineCase, Problem> {
    if name.is_empty() || name.contains('/') {
        return Err("a case's name is not empty and has no `/`; rename it".into());
    }
    let Value::Object(mut about) = about else {
        return Err("is described by no JSON object".into());
    };
    let mut text = |key: &str| match about.shift_remove(key) {
        Some(Value::String(text)) => Ok(Some(text)),
        None | Some(Value::Null) => Ok(None),
        Some(other) => Err(format!("`{key}` is {other}, and is to be a string")),
    };
    let missing = |key: &str| format!("`{key}` is missing; capture it again");
    let op = text("op")?.ok_or_else(|| missing("op"))?;
    let dtype = text("dtype")?.ok_or_else(|| missing("dtype"))?;
    let device = text("device")?.ok_or_else(|| missing("device"))?;
    let torch = text("torch")?;
    let params = match about.shift_remove("params") {
        Some(Value::Object(params)) => params,
        None => return Err(missing("params")),
        Some(other) => return Err(format!("`params` is {other}, and is to be an object")),
    };
    let milliseconds = match about.shift_remove("ms") {
        None | Some(Value::Null) => None,
        Some(ms) => match ms.as_f64() {
            Some(ms) if ms >= 0.0 => Some(ms),
            _ => return Err(format!("`ms` is {ms}, and is to be a number from 0")),
        },
    };
    let peak_bytes = match about.shift_remove("peak_bytes") {
        None | Some(Value::Null) => None,
        Some(bytes) => match bytes.as_u64() {
            Some(bytes) => Some(bytes),
            None => {
                return Err(format!(
                    "`peak_bytes` is {bytes}, and is to be a whole number from 0"
                ));
            }
        },
    };
    Ok(BaselineCase {
        file: file.to_string(),
        name: name.to_string(),
        op,
        params,
        dtype,
        device,
        torch,
        milliseconds,
        peak_bytes,
        other: about,
        inputs: Vec::new(),
        outputs: Vec::new(),
        cotangents: Vec::new(),
        gradients: Vec::new(),
    })
}
