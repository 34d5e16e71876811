//! Captured cases as instances: inputs and outputs of the original hardware.

use crate::dtype::DType;
use crate::files::BaselineCase;
use crate::gate::{Expected, Instance};
use crate::host::HostTensor;
use crate::operation::Op;
use crate::params::{Params, Value};
use crate::registry;

/// What a captured case asks for.
pub enum BaselineItem {
    /// Something to run.
    Instance(Box<Instance>),
    /// Something that the registry does not have, and what.
    Unsupported {
        /// The operation named.
        op: String,
        /// The case, with the gradient if it is about one.
        case: String,
        /// The case's dtype.
        dtype: String,
        /// What is missing.
        reason: String,
    },
}

/// The forward pass of a case and, where gradients were captured, the backward pass.
pub fn baseline_items(case: &BaselineCase) -> Vec<BaselineItem> {
    let mut items = vec![forward(case).unwrap_or_else(|reason| unsupported(case, "", reason))];
    if !case.gradients.is_empty() {
        items.push(backward(case).unwrap_or_else(|reason| unsupported(case, " gradient", reason)));
    }
    items
}

fn unsupported(case: &BaselineCase, suffix: &str, reason: String) -> BaselineItem {
    BaselineItem::Unsupported {
        op: case.op.clone(),
        case: format!("{}:{}{suffix}", case.file, case.name),
        dtype: case.dtype.clone(),
        reason,
    }
}

fn forward(case: &BaselineCase) -> Result<BaselineItem, String> {
    let op = registry::find(&case.op).map_err(|e| e.to_string())?;
    let params = params(case, op, op)?;
    instance(
        case,
        op,
        "",
        &params,
        |name| find(&case.inputs, name),
        &case.inputs,
        &case.outputs,
    )
}

fn backward(case: &BaselineCase) -> Result<BaselineItem, String> {
    let forward = registry::find(&case.op).map_err(|e| e.to_string())?;
    let op =
        registry::gradient_of(&case.op).ok_or_else(|| format!("{} has no gradient", case.op))?;
    let params = params(case, forward, op)?;
    // A gradient takes what it names of the inputs, the outputs and the cotangent of the forward pass.
    let source = |name: &str| match name {
        "cotangent" => case.cotangents.first().map(|(_, tensor)| tensor),
        _ => find(&case.inputs, name).or_else(|| find(&case.outputs, name)),
    };
    instance(case, op, " gradient", &params, source, &[], &case.gradients)
}

fn instance<'a>(
    case: &'a BaselineCase,
    op: Op,
    suffix: &str,
    params: &Params,
    source: impl Fn(&str) -> Option<&'a HostTensor>,
    must_be_used: &[(String, HostTensor)],
    outputs: &[(String, HostTensor)],
) -> Result<BaselineItem, String> {
    let signature = op.signature();
    let unknown = must_be_used
        .iter()
        .find(|(name, _)| signature.input_index(name).is_none());
    if let Some((name, _)) = unknown {
        return Err(format!("{} has no input `{name}`", signature.name));
    }
    let most = signature.inputs.len() + signature.variadic;
    let mut inputs: Vec<Option<HostTensor>> = (0..most)
        .map(|i| source(&signature.input_name(i)).cloned())
        .collect();
    while inputs.len() > signature.inputs.len() && inputs.last().is_some_and(Option::is_none) {
        inputs.pop();
    }
    let name = format!("{}:{}{suffix}", case.file, case.name);
    let instance = Instance::from_tensors(name, op, &inputs, params).map_err(|e| e.to_string())?;
    let own = instance.expected().map_err(|e| e.to_string())?;
    let mut expected = Vec::with_capacity(own.len());
    for (i, own) in own.iter().enumerate() {
        let spec = &signature.outputs[i];
        expected.push(match find(outputs, spec.name) {
            Some(captured) => widened(own, captured, &instance.call.outputs[i].shape)?,
            // Not captured: judged by the oracle alone.
            None => own.clone(),
        });
    }
    if let Some((name, _)) = outputs
        .iter()
        .find(|(name, _)| !signature.outputs.iter().any(|o| o.name == name))
    {
        return Err(format!("{} has no output `{name}`", signature.name));
    }
    Ok(BaselineItem::Instance(Box::new(
        instance.expecting(expected),
    )))
}

/// A captured output with PyTorch's own tolerance for its dtype, widened by the
/// operation's bound: the captured numbers are rounded themselves.
fn widened(own: &Expected, captured: &HostTensor, shape: &[usize]) -> Result<Expected, String> {
    if captured.shape() != shape {
        return Err(format!(
            "the captured output has shape {:?}, the operation's has {shape:?}",
            captured.shape()
        ));
    }
    let (relative, absolute) = match captured.dtype() {
        DType::F32 => (1.3e-6, 1e-5),
        DType::F16 => (1e-3, 1e-5),
        DType::BF16 => (1.6e-2, 1e-5),
        DType::I32 | DType::U32 => (0.0, 0.0),
    };
    Ok(match own {
        Expected::Bits(_) => Expected::Bits(captured.clone()),
        Expected::Exact(_) => Expected::Exact(captured.clone()),
        Expected::Close { allowed, .. } => {
            let values = captured.to_f64();
            let widen = |(own, v): (&f64, &f64)| own + relative * v.abs() + absolute;
            let allowed = allowed.iter().zip(&values).map(widen).collect();
            Expected::Close { values, allowed }
        }
        Expected::Sampled(_) => {
            return Err(format!(
                "a bound for every element of {shape:?} takes too long; capture a smaller case"
            ));
        }
    })
}

/// The case's parameters without facts about its capture, those that only the
/// forward operation knows left out for a gradient.
fn params(case: &BaselineCase, forward: Op, op: Op) -> Result<Params, String> {
    let mut params = Params::new();
    for (name, value) in &case.params {
        let specs = &op.signature().params;
        if !specs.iter().any(|p| p.name == name) {
            let known = forward.signature().params.iter().any(|p| p.name == name);
            if forward.baseline_facts().contains(&name.as_str()) || (known && forward != op) {
                continue;
            }
            return Err(format!("{} has no parameter `{name}`", op.signature().name));
        }
        let value = match value {
            serde_json::Value::Bool(v) => Value::Bool(*v),
            serde_json::Value::Number(v) if v.is_i64() => {
                Value::Int(v.as_i64().unwrap_or_default())
            }
            serde_json::Value::Number(v) => Value::Float(v.as_f64().unwrap_or_default()),
            serde_json::Value::String(v) => Value::from(v.as_str()),
            serde_json::Value::Array(items) => {
                let ints = items
                    .iter()
                    .map(|v| v.as_i64())
                    .collect::<Option<Vec<i64>>>();
                Value::Ints(
                    ints.ok_or_else(|| format!("parameter `{name}` is not an array of integers"))?,
                )
            }
            other => {
                return Err(format!(
                    "parameter `{name}` is {other}, which no parameter can be"
                ));
            }
        };
        params.set(name, value);
    }
    Ok(params)
}

fn find<'a>(tensors: &'a [(String, HostTensor)], name: &str) -> Option<&'a HostTensor> {
    tensors
        .iter()
        .find(|(n, _)| n == name)
        .map(|(_, tensor)| tensor)
}
