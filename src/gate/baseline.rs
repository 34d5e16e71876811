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
    let gradient = signature.gradient_of.is_some();
    let felt = if gradient {
        rounding_felt(case, op, params, &inputs, own)?
    } else {
        Vec::new()
    };
    let mut expected = Vec::with_capacity(own.len());
    for (i, own) in own.iter().enumerate() {
        let spec = &signature.outputs[i];
        expected.push(match find(outputs, spec.name) {
            Some(captured) => {
                let shape = &instance.call.outputs[i].shape;
                let expected = widened(own, captured, shape)?;
                match felt.get(i) {
                    Some(felt) => further(expected, felt),
                    None => expected,
                }
            }
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

/// How far gradients move when what the forward pass read and wrote moves by half a
/// unit in the last place. PyTorch computes gradients as a chain of operations that
/// round to the dtype each: dx = dy · (1 − y · y) rounds y · y, of whose difference
/// from 1 little is left near 1, and dx = 2/√π · exp(−x²) · dy rounds x², whose error
/// the exponential multiplies by x². Such a rounding does what half of it in y or x
/// would do, so that half a unit there bounds it (Higham 2002, "Accuracy and
/// Stability of Numerical Algorithms", 1.5); the few roundings that follow are within
/// PyTorch's tolerance.
fn rounding_felt(
    case: &BaselineCase,
    op: Op,
    params: &Params,
    inputs: &[Option<HostTensor>],
    own: &[Expected],
) -> Result<Vec<Vec<f64>>, String> {
    let moves = |i: usize, tensor: &HostTensor| {
        let name = op.signature().input_name(i);
        let captured = find(&case.inputs, &name).or(find(&case.outputs, &name));
        captured.is_some() && tensor.dtype().is_float()
    };
    let values = |expected: &Expected| match expected {
        Expected::Close { values, .. } => values.clone(),
        Expected::Exact(tensor) | Expected::Bits(tensor) | Expected::Leading(tensor) => {
            tensor.to_f64()
        }
        // Judged by its own bound.
        Expected::Sampled(_) => Vec::new(),
    };
    let mut felt: Vec<Vec<f64>> = own.iter().map(|e| vec![0.0; values(e).len()]).collect();
    if !own.iter().any(|e| matches!(e, Expected::Close { .. })) {
        return Ok(felt);
    }
    for side in [-1.0, 1.0] {
        let mut moved = inputs.to_vec();
        for (i, input) in moved.iter_mut().enumerate() {
            let Some(tensor) = input.as_ref().filter(|t| moves(i, t)) else {
                continue;
            };
            // By a whole unit, which the dtype can hold.
            let factor = 1.0 + side * 2.0 * tensor.dtype().unit_roundoff();
            let numbers: Vec<f64> = tensor.to_f64().iter().map(|v| v * factor).collect();
            let nudged = HostTensor::from_f64(tensor.dtype(), tensor.shape(), &numbers);
            *input = Some(nudged.map_err(|e| e.to_string())?);
        }
        let instance =
            Instance::from_tensors("moved", op, &moved, params).map_err(|e| e.to_string())?;
        let other = instance.expected().map_err(|e| e.to_string())?;
        for ((felt, own), other) in felt.iter_mut().zip(own).zip(other) {
            for ((felt, a), b) in felt.iter_mut().zip(values(own)).zip(values(other)) {
                let half = (a - b).abs() / 2.0;
                if half.is_finite() {
                    *felt = felt.max(half);
                }
            }
        }
    }
    Ok(felt)
}

/// The same with this much more allowed.
fn further(expected: Expected, felt: &[f64]) -> Expected {
    match expected {
        Expected::Close { values, allowed } => {
            let allowed = allowed.iter().zip(felt).map(|(a, b)| a + b).collect();
            Expected::Close { values, allowed }
        }
        exact => exact,
    }
}

/// A captured output with PyTorch's own tolerance for its dtype, widened by the
/// operation's bound: the captured numbers are rounded themselves.
fn widened(own: &Expected, captured: &HostTensor, shape: &[usize]) -> Result<Expected, String> {
    // Captures hold what counts, outputs have room for more.
    let shape = match own {
        Expected::Leading(leading) => leading.shape(),
        _ => shape,
    };
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
        Expected::Leading(_) => Expected::Leading(captured.clone()),
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
