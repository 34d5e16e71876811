//! `portcullis ops`: the vocabulary.

use portcullis::registry::OPERATIONS;

use crate::table::table;
use crate::{Outcome, say};

#[derive(clap::Args)]
pub struct Arguments {
    /// Only this operation, with everything it takes.
    operation: Option<String>,
    /// Print an array of JSON objects.
    #[arg(long)]
    json: bool,
}

pub fn main(arguments: &Arguments) -> Outcome {
    let chosen = match &arguments.operation {
        Some(name) => vec![portcullis::registry::find(name)?],
        None => OPERATIONS.to_vec(),
    };
    if arguments.json {
        let all: Vec<_> = chosen.iter().map(|op| op.signature().to_json()).collect();
        say(serde_json::to_string_pretty(&all)?);
        return Ok(true);
    }
    if arguments.operation.is_some() {
        for op in chosen {
            describe(op.signature());
        }
        return Ok(true);
    }
    let mut table = table(&[
        "operation",
        "inputs",
        "outputs",
        "parameters",
        "dtypes",
        "variants",
    ]);
    for op in chosen {
        let signature = op.signature();
        let join = |items: Vec<String>| items.join(" ");
        let inputs = signature.inputs.iter().map(|i| match i.optional {
            true => format!("[{}]", i.name),
            false => i.name.to_string(),
        });
        let inputs = inputs
            .chain((signature.variadic > 0).then(|| "…".to_string()))
            .collect();
        let params = signature.params.iter().map(|p| match p.required {
            true => p.name.to_string(),
            false => format!("{}={}", p.name, p.default),
        });
        table.add_row([
            signature.name.to_string(),
            join(inputs),
            join(
                signature
                    .outputs
                    .iter()
                    .map(|o| o.name.to_string())
                    .collect(),
            ),
            join(params.collect()),
            join(signature.dtypes.iter().map(|d| d.to_string()).collect()),
            join(signature.variants.iter().map(|v| v.to_string()).collect()),
        ]);
    }
    say(table);
    Ok(true)
}

fn describe(signature: &portcullis::operation::Signature) {
    say(format!("{}: {}", signature.name, signature.doc));
    for input in &signature.inputs {
        let dtypes: Vec<&str> = input.dtypes.iter().map(|d| d.name()).collect();
        let optional = if input.optional {
            ", may be left out"
        } else {
            ""
        };
        say(format!(
            "  in  {} ({}{optional}): {}",
            input.name,
            dtypes.join(" "),
            input.doc
        ));
    }
    if signature.variadic > 0 {
        say(format!("      and up to {} more", signature.variadic));
    }
    for output in &signature.outputs {
        say(format!("  out {}: {}", output.name, output.doc));
    }
    for param in &signature.params {
        let default = if param.required {
            "must be given".to_string()
        } else {
            format!("default {}", param.default)
        };
        say(format!(
            "  param {} ({}, {default}): {}",
            param.name,
            param.default.kind(),
            param.doc
        ));
    }
    let variants: Vec<&str> = signature.variants.iter().map(|v| v.name()).collect();
    say(format!("  variants {}", variants.join(" ")));
    if let Some(forward) = signature.gradient_of {
        say(format!("  the gradient of {forward}"));
    }
}
