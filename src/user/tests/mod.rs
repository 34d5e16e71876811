mod arithmetic;
mod builtins;
mod control;
mod hostile;
mod properties;
mod refusals;
mod signatures;

use super::{Interpreter, UserModule, Value};
use crate::error::{Error, Result};

fn interpreter(text: &str, name: &str) -> Result<Interpreter> {
    let module = UserModule::parse(text, "")?;
    let signature = module.signature(name).expect("a function of this name");
    let arguments: Vec<_> = signature.arguments.into_iter().map(|(_, ty)| ty).collect();
    let result = signature.result.expect("a result");
    Interpreter::new(&module, module.require(name, &arguments, &result)?)
}

/// The result of the function `f` of a text.
fn eval(text: &str, arguments: &[Value]) -> Value {
    interpreter(text, "f")
        .and_then(|f| f.call(arguments))
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The result of `fn f(a, b, ...) -> result` that returns an expression.
fn expression(arguments: &[Value], result: &str, body: &str) -> Value {
    let list: Vec<String> = arguments
        .iter()
        .zip("abcdefgh".chars())
        .map(|(value, name)| format!("{name}: {}", type_name(value)))
        .collect();
    let text = format!("fn f({}) -> {result} {{ return {body}; }}", list.join(", "));
    eval(&text, arguments)
}

/// Scalars, and composites as vectors.
fn type_name(value: &Value) -> String {
    match value {
        Value::F32(_) => "f32".into(),
        Value::I32(_) => "i32".into(),
        Value::U32(_) => "u32".into(),
        Value::Bool(_) => "bool".into(),
        Value::Composite(values) => format!("vec{}<{}>", values.len(), type_name(&values[0])),
    }
}

fn f32s(values: &[f32]) -> Value {
    Value::Composite(values.iter().map(|&v| Value::F32(v)).collect())
}

fn i32s(values: &[i32]) -> Value {
    Value::Composite(values.iter().map(|&v| Value::I32(v)).collect())
}

fn u32s(values: &[u32]) -> Value {
    Value::Composite(values.iter().map(|&v| Value::U32(v)).collect())
}

fn bools(values: &[bool]) -> Value {
    Value::Composite(values.iter().map(|&v| Value::Bool(v)).collect())
}

/// Line, column and message of the error in a text.
fn error_of(text: &str, prelude: &str) -> (u32, u32, String) {
    match UserModule::parse(text, prelude) {
        Err(Error::Wgsl {
            line,
            column,
            message,
        }) => (line, column, message),
        other => panic!("{other:?}"),
    }
}
