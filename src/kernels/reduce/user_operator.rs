//! An associative operator that a user gives as WGSL text.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, LazyLock, Mutex};

use crate::device::lock;
use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::reduce::operator::{Operator, Text};
use crate::operation::Call;
use crate::params::ParamSpec;
use crate::user::{Interpreter, ScalarType, Scratch, Type, UserModule};

/// A user's operator: `Element`, `combine` and `identity`.
#[derive(Debug)]
pub(crate) struct UserOperator {
    fields: Vec<(String, ScalarType)>,
    combine: Interpreter,
    identity: Vec<u32>,
    /// `user`, `op` and `value`, as kernels link them.
    texts: [Arc<str>; 3],
    bounded: bool,
}

/// A text, its fields, and the scalar that single fields have.
type Key = (Arc<str>, Arc<str>, ScalarType);

/// Operators parsed before: a call must not parse its text again every time.
static PARSED: LazyLock<Mutex<HashMap<Key, Arc<UserOperator>>>> = LazyLock::new(Mutex::default);
/// Where there are more, all are forgotten.
const MOST_PARSED: usize = 256;

/// The parameters that state an operator.
pub(crate) fn params() -> Vec<ParamSpec> {
    vec![
        ParamSpec::required(
            "operator",
            "fn combine(a: Element, b: Element) -> Element { return a + b; }\n\
             fn identity() -> Element { return 0.0; }",
            "WGSL with `fn combine(a: Element, b: Element) -> Element`, associative, and \
             `fn identity() -> Element`",
        ),
        ParamSpec::new(
            "fields",
            "",
            "what Element is: `f32`, or a struct as `value: f32, index: u32` whose 32-bit words \
             the last axis of x holds; the scalar of x when empty",
        ),
        ParamSpec::new(
            "commutative",
            false,
            "whether the order of arguments does not matter either, which is faster",
        ),
    ]
}

impl UserOperator {
    /// The operator of a call.
    ///
    /// # Errors
    /// [`crate::Error::Wgsl`] for its text, [`crate::Error::Parameter`] for its fields,
    /// [`crate::Error::Shape`] or [`crate::Error::Parameter`] where the input does not hold such elements.
    pub fn of(call: &Call) -> Result<Arc<UserOperator>> {
        let x = call.input(0);
        let scalar = scalar_of(x.dtype);
        let text = |name: &str| Arc::from(call.params.text(name));
        let key: Key = (text("operator"), text("fields"), scalar);
        let found = lock(&PARSED).get(&key).cloned();
        let operator = match found {
            Some(operator) => operator,
            None => {
                let operator = Arc::new(UserOperator::parse(call, scalar)?);
                let mut parsed = lock(&PARSED);
                if parsed.len() >= MOST_PARSED {
                    parsed.clear();
                }
                parsed.insert(key, operator.clone());
                operator
            }
        };
        operator.check(call)?;
        Ok(operator)
    }

    fn parse(call: &Call, scalar: ScalarType) -> Result<UserOperator> {
        let fields = parse_fields(call, scalar)?;
        let (prelude, element) = match &fields[..] {
            [(_, scalar)] => (
                format!("alias Element = {scalar};\n"),
                Type::Scalar(*scalar),
            ),
            fields => {
                let members: Vec<String> =
                    fields.iter().map(|(n, s)| format!("{n}: {s}")).collect();
                let typed =
                    |(name, scalar): &(String, ScalarType)| (name.clone(), Type::Scalar(*scalar));
                (
                    format!("struct Element {{ {} }}\n", members.join(", ")),
                    Type::Struct {
                        name: "Element".into(),
                        fields: fields.iter().map(typed).collect(),
                    },
                )
            }
        };
        // Alone first, so that what is wrong with the fields is not blamed on the operator.
        UserModule::parse(&prelude, "")
            .map_err(|error| call.parameter_error("fields", error.to_string()))?;
        let text = call.params.text("operator");
        let module = UserModule::parse(text, &prelude)?;
        let combine = module.require("combine", &[element.clone(), element.clone()], &element)?;
        let identity = module.require("identity", &[], &element)?;
        let mut neutral = vec![0; fields.len()];
        let identity = Interpreter::new(&module, identity)?;
        identity.evaluate_words(&[], &mut neutral, &mut Scratch::new())?;
        Ok(UserOperator {
            combine: Interpreter::new(&module, combine)?,
            identity: neutral,
            texts: [
                format!("{prelude}{text}\n").into(),
                op_text(&fields).into(),
                value_text(&fields).into(),
            ],
            bounded: module.is_bounded(),
            fields,
        })
    }

    /// Whether the input holds elements of these fields.
    fn check(&self, call: &Call) -> Result<()> {
        let x = call.input(0);
        let scalar = scalar_of(x.dtype);
        let alike = self.fields.iter().all(|(_, field)| *field == scalar);
        if !self.is_struct() {
            return match alike {
                true => Ok(()),
                false => Err(call.parameter_error(
                    "fields",
                    format!("x is {}, whose elements are {scalar} in kernels", x.dtype),
                )),
            };
        }
        if x.dtype.size() != 4 || !(alike || x.dtype == DType::U32) {
            let problem = format!(
                "x is {}; structs lie in tensors of u32 words, or of the dtype that all fields have",
                x.dtype
            );
            return Err(call.parameter_error("fields", problem));
        }
        if x.shape.last() != Some(&self.fields.len()) {
            return Err(call.shape_error(format!(
                "x is {:?}; its last axis must hold the {} fields of an element",
                x.shape,
                self.fields.len()
            )));
        }
        Ok(())
    }

    /// Whether elements have several fields, along an axis of the tensor.
    pub fn is_struct(&self) -> bool {
        self.fields.len() > 1
    }

    /// 32-bit words of an element.
    pub fn words(&self) -> usize {
        self.fields.len()
    }

    /// Whether all fields are integers, whose results are exact.
    pub fn is_integer(&self) -> bool {
        self.fields.iter().all(|(_, s)| *s != ScalarType::F32)
    }

    /// The identity's words.
    pub fn identity(&self) -> &[u32] {
        &self.identity
    }

    /// `total = combine(total, element)`, by interpretation.
    ///
    /// # Errors
    /// A loop that does not end.
    pub fn combine(&self, total: &mut [u32], element: &[u32], scratch: &mut Scratch) -> Result<()> {
        let mut arguments = [0; 2 * MOST_FIELDS];
        let words = self.words();
        arguments[..words].copy_from_slice(total);
        arguments[words..2 * words].copy_from_slice(element);
        self.combine
            .evaluate_words(&arguments[..2 * words], total, scratch)
    }

    /// What kernels link.
    pub fn operator(&self, commutative: bool) -> Operator {
        let [user, op, value] = self.texts.clone().map(Text::Generated);
        Operator {
            modules: vec![("user", user), ("op", op), ("value", value)],
            constants: Vec::new(),
            shifted: false,
            words: self.words(),
            ordered: !commutative,
            unchecked: self.bounded,
        }
    }
}

/// Fields of an element at most: 256 of them fill the 16 KiB of workgroup
/// memory that every device has.
pub(crate) const MOST_FIELDS: usize = 16;

fn scalar_of(dtype: DType) -> ScalarType {
    match dtype {
        DType::F32 | DType::F16 | DType::BF16 => ScalarType::F32,
        DType::I32 => ScalarType::I32,
        DType::U32 => ScalarType::U32,
    }
}

/// Names and types of the fields; a single one needs no name.
fn parse_fields(call: &Call, default: ScalarType) -> Result<Vec<(String, ScalarType)>> {
    let text = call.params.text("fields").trim();
    if text.is_empty() {
        return Ok(vec![("value".into(), default)]);
    }
    let problem = |problem: String| call.parameter_error("fields", problem);
    let mut fields = Vec::new();
    for part in text.split(',') {
        let (name, ty) = match part.split_once(':') {
            Some((name, ty)) => (name.trim(), ty.trim()),
            None if !text.contains(',') => ("value", part.trim()),
            None => return Err(problem(format!("`{}` has no type", part.trim()))),
        };
        let scalar = match ty {
            "f32" => ScalarType::F32,
            "i32" => ScalarType::I32,
            "u32" => ScalarType::U32,
            other => {
                return Err(problem(format!(
                    "`{other}` is no 32-bit type; there are f32, i32, u32"
                )));
            }
        };
        let starts = |c: char| c.is_ascii_alphabetic() || c == '_';
        if !name.starts_with(starts) || !name.chars().all(|c| starts(c) || c.is_ascii_digit()) {
            return Err(problem(format!("`{name}` is no name of a field")));
        }
        fields.push((name.to_string(), scalar));
    }
    if fields.len() > MOST_FIELDS {
        return Err(problem(format!(
            "{} fields; an element has {MOST_FIELDS} at most",
            fields.len()
        )));
    }
    Ok(fields)
}

/// Module `op`: the operator by the names that kernels import.
fn op_text(fields: &[(String, ScalarType)]) -> String {
    let mut text = String::from(
        "import super::user;\n\
         alias Value = user::Element;\n\
         fn identity() -> Value { return user::identity(); }\n\
         fn combine(a: Value, b: Value) -> Value { return user::combine(a, b); }\n",
    );
    if let [(_, scalar)] = fields {
        let _ = write!(
            text,
            "fn lift(x: {scalar}, index: u32) -> Value {{ return x; }}\n\
             fn finish(v: Value, parameter: u32) -> {scalar} {{ return v; }}\n"
        );
    }
    text
}

/// Module `value`: an element's words and its way between invocations.
fn value_text(fields: &[(String, ScalarType)]) -> String {
    let single = fields.len() == 1;
    let member = |name: &str| match single {
        true => "v".to_string(),
        false => format!("v.{name}"),
    };
    let list = |item: &dyn Fn(usize, &str, ScalarType) -> String| {
        let items = fields.iter().enumerate();
        let items: Vec<String> = items.map(|(i, (name, s))| item(i, name, *s)).collect();
        items.join(", ")
    };
    let words = list(&|_, name, _| format!("bitcast<u32>({})", member(name)));
    let values = list(&|i, _, scalar| format!("bitcast<{scalar}>(words[{i}])"));
    let mut text = format!(
        "import super::user;\n\
         alias Value = user::Element;\n\
         const WORDS: u32 = {}u;\n\
         fn pack(v: Value) -> array<u32, WORDS> {{ return array<u32, WORDS>({words}); }}\n\
         fn unpack(words: array<u32, WORDS>) -> Value {{ return Value({values}); }}\n",
        fields.len()
    );
    for (name, call) in [
        ("shuffle", "subgroupShuffle"),
        ("shuffle_xor", "subgroupShuffleXor"),
        ("shuffle_up", "subgroupShuffleUp"),
    ] {
        let moved = list(&|_, field, _| format!("{call}({}, by)", member(field)));
        let _ = writeln!(
            text,
            "@if(subgroup) fn {name}(v: Value, by: u32) -> Value {{ return Value({moved}); }}"
        );
    }
    text
}
