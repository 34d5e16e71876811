//! One line of a gate's report.

use crate::error::{Error, Result};
use crate::gate::{Instance, compare};
use crate::host::HostTensor;
use crate::operation::Variant;

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Within its bound.
    Pass,
    /// Beyond its bound, or damage done.
    Fail,
    /// The device, the variant or the operation cannot do it; the note says why.
    Unsupported,
    /// It did not run.
    Error,
}

impl Status {
    /// The name used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Pass => "pass",
            Status::Fail => "fail",
            Status::Unsupported => "unsupported",
            Status::Error => "error",
        }
    }
}

/// One operation on one problem by one variant on one adapter.
#[derive(Debug, Clone)]
pub struct Row {
    /// The operation.
    pub op: String,
    /// The problem.
    pub case: String,
    /// The main input's dtype.
    pub dtype: String,
    /// The adapter, or `cpu`.
    pub adapter: String,
    /// The variant.
    pub variant: String,
    /// How it ended.
    pub status: Status,
    /// The largest |got − expected| over all outputs.
    pub max_abs: f64,
    /// The largest |got − expected| / |expected|.
    pub max_rel: f64,
    /// The largest error in units in the last place of the output's dtype.
    pub max_ulp: f64,
    /// The largest error over the error allowed there: above 1 fails.
    pub bound_ratio: f64,
    /// What failed, and how to reproduce it; or why it is unsupported.
    pub note: String,
}

impl Row {
    /// A row that nothing was found for yet.
    pub fn new(instance: &Instance, adapter: &str, variant: Variant) -> Row {
        Row {
            op: instance.call.name().into(),
            case: instance.name.clone(),
            dtype: instance.dtype.name().into(),
            adapter: adapter.into(),
            variant: variant.name().into(),
            status: Status::Pass,
            max_abs: 0.0,
            max_rel: 0.0,
            max_ulp: 0.0,
            bound_ratio: 0.0,
            note: String::new(),
        }
    }

    /// Whether the row says that everything asked for held.
    pub fn passed(&self) -> bool {
        self.status == Status::Pass
    }

    /// The row as JSON. Numbers that JSON does not have are the texts `inf` and `nan`.
    #[cfg(any(feature = "files", feature = "web"))]
    pub fn to_json(&self) -> serde_json::Value {
        let number = |v: f64| match serde_json::Number::from_f64(v) {
            Some(number) => serde_json::Value::Number(number),
            None => serde_json::Value::from(if v.is_nan() { "nan" } else { "inf" }),
        };
        serde_json::json!({
            "op": self.op,
            "case": self.case,
            "dtype": self.dtype,
            "adapter": self.adapter,
            "variant": self.variant,
            "status": self.status.name(),
            "max_abs": number(self.max_abs),
            "max_rel": number(self.max_rel),
            "max_ulp": number(self.max_ulp),
            "bound_ratio": number(self.bound_ratio),
            "note": self.note,
        })
    }

    /// A row for a plan or compilation that was refused.
    pub(crate) fn refused(mut self, error: Error) -> Result<Row> {
        match error {
            Error::DeviceLost(_) | Error::OutOfMemory { .. } => return Err(error),
            Error::Unavailable { reason, .. } => {
                self.status = Status::Unsupported;
                self.note = reason;
            }
            Error::Limit { .. } => {
                self.status = Status::Unsupported;
                self.note = error.to_string();
            }
            error => self.error(error),
        }
        Ok(self)
    }

    pub(crate) fn error(&mut self, error: Error) {
        self.status = Status::Error;
        self.note = error.to_string();
    }

    /// Compares outputs with what they must be.
    pub(crate) fn judge(
        &mut self,
        instance: &Instance,
        outputs: Vec<HostTensor>,
        damage: Option<String>,
    ) {
        let expected = match instance.expected() {
            Ok(expected) => expected,
            Err(error) => return self.error(error.clone()),
        };
        let signature = instance.call.operation.signature();
        if outputs.len() != expected.len() {
            self.status = Status::Fail;
            self.note = format!("{} outputs instead of {}", outputs.len(), expected.len());
            return;
        }
        for (i, (output, expected)) in outputs.iter().zip(expected).enumerate() {
            let name = signature.outputs[i].name;
            let spec = &instance.call.outputs[i];
            if output.dtype() != spec.dtype || output.shape() != spec.shape {
                self.fail(format!(
                    "output `{name}` is {}{:?} instead of {}{:?}",
                    output.dtype(),
                    output.shape(),
                    spec.dtype,
                    spec.shape
                ));
                continue;
            }
            let comparison = compare(output, expected);
            self.max_abs = self.max_abs.max(comparison.max_abs);
            self.max_rel = self.max_rel.max(comparison.max_rel);
            self.max_ulp = self.max_ulp.max(comparison.max_ulp);
            self.bound_ratio = self.bound_ratio.max(comparison.bound_ratio);
            if let Some(failure) = comparison.failure {
                self.fail(format!("output `{name}`: {failure}"));
            }
            if !instance.zeros_expected && mostly_zeros(output) {
                self.fail(format!(
                    "output `{name}` is mostly zeros: this fill proves little"
                ));
            }
        }
        if let Some(damage) = damage {
            self.fail(damage);
        }
    }

    fn fail(&mut self, note: String) {
        self.status = Status::Fail;
        if !self.note.is_empty() {
            self.note.push_str("; ");
        }
        self.note.push_str(&note);
    }
}

fn mostly_zeros(tensor: &HostTensor) -> bool {
    let values = tensor.to_f64();
    let zeros = values.iter().filter(|v| **v == 0.0).count();
    values.len() >= 32 && zeros * 10 > values.len() * 9
}
