//! `portcullis run OP`: one operation on files.

use portcullis::{Device, HostTensor, Params, Selector, Tensor, files, ops, registry};

use crate::{Outcome, say};

#[derive(clap::Args)]
pub struct Arguments {
    /// The operation.
    operation: String,
    /// An input: NAME=file.npy, NAME=file.npz:ENTRY or NAME=file.safetensors:ENTRY.
    #[arg(long = "in", value_name = "NAME=FILE")]
    inputs: Vec<String>,
    /// A parameter: NAME=VALUE.
    #[arg(long = "param", value_name = "NAME=VALUE")]
    params: Vec<String>,
    /// An output to write: NAME=file.npy, NAME=file.npz:ENTRY or NAME=file.safetensors:ENTRY.
    #[arg(long = "out", value_name = "NAME=FILE")]
    outputs: Vec<String>,
    /// The adapter: an index, a part of its name, or `cpu`.
    #[arg(long, default_value = "")]
    adapter: String,
}

pub fn main(arguments: &Arguments) -> Outcome {
    let operation = registry::find(&arguments.operation)?;
    let signature = operation.signature();
    let mut inputs: Vec<Option<HostTensor>> = Vec::new();
    for text in &arguments.inputs {
        let (name, file) = split("--in", text)?;
        let index = signature.input_index(name).ok_or_else(|| {
            let names: Vec<&str> = signature.inputs.iter().map(|i| i.name).collect();
            format!(
                "{} has no input `{name}`; it takes {}",
                signature.name,
                names.join(", ")
            )
        })?;
        if inputs.get(index).is_some_and(Option::is_some) {
            return Err(format!("input `{name}` is given twice").into());
        }
        inputs.resize_with(inputs.len().max(index + 1), || None);
        inputs[index] = Some(files::read_tensor(file)?);
    }
    let mut params = Params::new();
    for text in &arguments.params {
        let (name, value) = split("--param", text)?;
        params.set_text(name, value);
    }
    let mut wanted = Vec::new();
    for text in &arguments.outputs {
        let (name, file) = split("--out", text)?;
        if !signature.outputs.iter().any(|o| o.name == name) {
            let names: Vec<&str> = signature.outputs.iter().map(|o| o.name).collect();
            return Err(format!(
                "{} has no output `{name}`; it gives {}",
                signature.name,
                names.join(", ")
            )
            .into());
        }
        wanted.push((name, file));
    }

    let policy = portcullis::Policy::from_environment()?;
    let device = pollster::block_on(Device::with(&Selector::parse(&arguments.adapter), policy))?;
    if let Some(notice) = device.notice() {
        eprintln!("portcullis: {notice}");
    }
    let upload = |t: Option<HostTensor>| t.map(|t| Tensor::from_host(&device, t)).transpose();
    let tensors: Vec<Option<Tensor>> = inputs.into_iter().map(upload).collect::<Result<_, _>>()?;
    let views: Vec<Option<&Tensor>> = tensors.iter().map(Option::as_ref).collect();
    let results = ops::call(signature.name, &views, &params)?;
    let mut host = Vec::new();
    for (name, tensor) in results.iter() {
        host.push((name, tensor.to_host_blocking()?));
    }
    for (name, tensor) in &host {
        say(format!("{name}: {}{:?}", tensor.dtype(), tensor.shape()));
    }
    let adapter = device.gpu().map_or("cpu".to_string(), |gpu| {
        gpu.capabilities().identity.to_string()
    });
    say(format!("ran on {adapter}: {}", results.decision()));
    let mut outputs = Vec::new();
    for (name, file) in wanted {
        let found = host.iter().find(|(n, _)| *n == name);
        outputs.extend(found.map(|(_, tensor)| (file, tensor)));
    }
    files::write_all(&outputs)?;
    Ok(true)
}

fn split<'a>(flag: &str, text: &'a str) -> Result<(&'a str, &'a str), String> {
    text.split_once('=')
        .ok_or_else(|| format!("{flag} takes NAME=VALUE, not `{text}`"))
}
