//! Parameters of operations: named values, checked against a signature.

use std::sync::Arc;

use crate::error::{Error, Result};

/// The value of one parameter.
#[derive(Debug, Clone)]
pub enum Value {
    /// A flag.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A real number.
    Float(f64),
    /// A name or WGSL text.
    Text(Arc<str>),
    /// Several integers, such as axes.
    Ints(Vec<i64>),
}

impl Value {
    /// The kind's name, for messages and `ops --json`.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Float(_) => "float",
            Value::Text(_) => "text",
            Value::Ints(_) => "ints",
        }
    }

    /// Reads text as this value's kind.
    fn parse_like(&self, text: &str) -> Option<Value> {
        Some(match self {
            Value::Bool(_) => Value::Bool(match text {
                "true" | "1" => true,
                "false" | "0" => false,
                _ => return None,
            }),
            Value::Int(_) => Value::Int(text.parse().ok()?),
            Value::Float(_) => Value::Float(text.parse().ok()?),
            Value::Text(_) => Value::Text(text.into()),
            Value::Ints(_) => {
                let inner = text.trim_matches(['[', ']']).trim();
                if inner.is_empty() {
                    return Some(Value::Ints(Vec::new()));
                }
                Value::Ints(
                    inner
                        .split(',')
                        .map(|t| t.trim().parse().ok())
                        .collect::<Option<_>>()?,
                )
            }
        })
    }

    /// This value as the kind of `like`, where nothing is lost.
    fn coerce_like(&self, like: &Value) -> Option<Value> {
        Some(match (self, like) {
            (Value::Int(v), Value::Float(_)) => Value::Float(*v as f64),
            (Value::Float(v), Value::Int(_)) if v.fract() == 0.0 && v.abs() < 2f64.powi(53) => {
                Value::Int(*v as i64)
            }
            (Value::Int(v), Value::Ints(_)) => Value::Ints(vec![*v]),
            (Value::Int(v @ (0 | 1)), Value::Bool(_)) => Value::Bool(*v == 1),
            (a, b) if a.kind() == b.kind() => a.clone(),
            _ => return None,
        })
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Bool(v) => write!(f, "{v}"),
            Value::Int(v) => write!(f, "{v}"),
            Value::Float(v) => write!(f, "{v}"),
            Value::Text(v) => write!(f, "{v}"),
            Value::Ints(v) => {
                let items: Vec<String> = v.iter().map(i64::to_string).collect();
                write!(f, "[{}]", items.join(","))
            }
        }
    }
}

// Floats are compared and hashed by their bits: parameters are cache keys.
impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::Ints(a), Value::Ints(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

impl std::hash::Hash for Value {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        match self {
            Value::Bool(v) => v.hash(state),
            Value::Int(v) => v.hash(state),
            Value::Float(v) => v.to_bits().hash(state),
            Value::Text(v) => v.hash(state),
            Value::Ints(v) => v.hash(state),
        }
    }
}

macro_rules! value_from {
    ($($type:ty => $variant:ident),*) => {$(
        impl From<$type> for Value {
            fn from(v: $type) -> Value {
                Value::$variant(v.into())
            }
        }
    )*};
}
value_from!(bool => Bool, i64 => Int, i32 => Int, u32 => Int, f64 => Float, f32 => Float, &str => Text, String => Text, Vec<i64> => Ints, &[i64] => Ints);

impl From<usize> for Value {
    fn from(v: usize) -> Value {
        Value::Int(i64::try_from(v).unwrap_or(i64::MAX))
    }
}

/// One parameter that an operation takes.
#[derive(Debug, Clone)]
pub struct ParamSpec {
    /// The name, the same everywhere.
    pub name: &'static str,
    /// The value where none is given; its kind is the parameter's kind.
    pub default: Value,
    /// Whether a value must be given (the default then only states the kind).
    pub required: bool,
    /// What it means, with its unit.
    pub doc: &'static str,
}

impl ParamSpec {
    /// A parameter with a default.
    pub fn new(name: &'static str, default: impl Into<Value>, doc: &'static str) -> ParamSpec {
        ParamSpec {
            name,
            default: default.into(),
            required: false,
            doc,
        }
    }

    /// A parameter that must be given; `example` states its kind.
    pub fn required(name: &'static str, example: impl Into<Value>, doc: &'static str) -> ParamSpec {
        ParamSpec {
            name,
            default: example.into(),
            required: true,
            doc,
        }
    }
}

/// Parameter values as a caller gives them: any order, defaults left out.
///
/// ```
/// use portcullis::Params;
/// let params = Params::new().with("axis", -1).with("beta", 0.5);
/// assert_eq!(params.get("axis"), Some(&(-1).into()));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Params {
    entries: Vec<(String, Value)>,
    // Text given on a command line, whose kind only the signature knows.
    unparsed: Vec<(String, String)>,
}

impl Params {
    /// No parameters given.
    pub fn new() -> Params {
        Params::default()
    }

    /// The same with `name` set to `value`.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Params {
        self.set(name, value);
        self
    }

    /// Sets `name` to `value`.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.entries.retain(|(n, _)| n != name);
        self.entries.push((name.into(), value.into()));
    }

    /// Sets `name` to text whose kind the operation's signature decides.
    pub fn set_text(&mut self, name: &str, text: &str) {
        self.unparsed.push((name.into(), text.into()));
    }

    /// The value of `name`, if given.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.entries.iter().find(|(n, _)| n == name).map(|(_, v)| v)
    }

    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.entries.iter().map(|(n, v)| (n.as_str(), v))
    }

    /// Checks the values against a signature's parameters and fills in
    /// defaults: the result holds every parameter, in the signature's order.
    ///
    /// # Errors
    /// [`Error::Parameter`] for one that is unknown, missing or of another kind.
    pub fn complete(&self, operation: &str, specs: &[ParamSpec]) -> Result<Params> {
        let problem = |parameter: &str, problem: String| Error::Parameter {
            operation: operation.into(),
            parameter: parameter.into(),
            problem,
        };
        let given = self
            .entries
            .iter()
            .map(|(n, _)| n)
            .chain(self.unparsed.iter().map(|(n, _)| n));
        for name in given {
            if !specs.iter().any(|s| s.name == name) {
                let known: Vec<&str> = specs.iter().map(|s| s.name).collect();
                let known = if known.is_empty() {
                    "none".into()
                } else {
                    known.join(", ")
                };
                return Err(problem(
                    name,
                    format!("unknown; this operation takes: {known}"),
                ));
            }
        }
        let mut entries = Vec::with_capacity(specs.len());
        for spec in specs {
            let unparsed = self.unparsed.iter().find(|(n, _)| n == spec.name);
            let value = match (self.get(spec.name), unparsed) {
                (_, Some((_, text))) => spec.default.parse_like(text).ok_or_else(|| {
                    problem(
                        spec.name,
                        format!("`{text}` is not of kind {}", spec.default.kind()),
                    )
                })?,
                (Some(value), None) => value.coerce_like(&spec.default).ok_or_else(|| {
                    let kind = spec.default.kind();
                    problem(
                        spec.name,
                        format!("`{value}` is of kind {}, not {kind}", value.kind()),
                    )
                })?,
                (None, None) if spec.required => {
                    return Err(problem(
                        spec.name,
                        format!("must be given ({}): {}", spec.default.kind(), spec.doc),
                    ));
                }
                (None, None) => spec.default.clone(),
            };
            entries.push((spec.name.into(), value));
        }
        Ok(Params {
            entries,
            unparsed: Vec::new(),
        })
    }

    // The getters below are for operations, whose parameters are complete:
    // kinds were checked, so the fallbacks are never taken.

    /// The flag `name`.
    pub fn bool(&self, name: &str) -> bool {
        matches!(self.get(name), Some(Value::Bool(true)))
    }

    /// The integer `name`.
    pub fn int(&self, name: &str) -> i64 {
        if let Some(Value::Int(v)) = self.get(name) {
            *v
        } else {
            0
        }
    }

    /// The number `name`.
    pub fn float(&self, name: &str) -> f64 {
        if let Some(Value::Float(v)) = self.get(name) {
            *v
        } else {
            0.0
        }
    }

    /// The text `name`.
    pub fn text(&self, name: &str) -> &str {
        if let Some(Value::Text(v)) = self.get(name) {
            v
        } else {
            ""
        }
    }

    /// The integers `name`.
    pub fn ints(&self, name: &str) -> &[i64] {
        if let Some(Value::Ints(v)) = self.get(name) {
            v
        } else {
            &[]
        }
    }
}

impl std::fmt::Display for Params {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let items: Vec<String> = self
            .entries
            .iter()
            .map(|(n, v)| format!("{n}={v}"))
            .collect();
        f.write_str(&items.join(" "))
    }
}
