//! Calling a user's function on the CPU.

use super::compile::compile;
use super::machine::{self, Scratch};
use super::parse::{FunctionHandle, UserModule};
use super::program::{Program, STEP_LIMIT};
use super::room::with_room;
use super::types::{ScalarType, Signature, Type};
use crate::error::{Error, Result};

/// A value of WGSL.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "scalars are named after their types")]
pub enum Value {
    F32(f32),
    I32(i32),
    U32(u32),
    Bool(bool),
    /// The components of a vector, the columns of a matrix (vectors
    /// themselves), the elements of an array or the members of a struct.
    Composite(Vec<Value>),
}

/// A function of a [`UserModule`], ready to be called on the CPU.
#[derive(Debug)]
pub struct Interpreter {
    program: Program,
    signature: Signature,
    /// Line and column of each loop.
    loops: Vec<(u32, u32)>,
}

impl Interpreter {
    /// Compiles a function of `module`.
    ///
    /// # Errors
    /// [`Error::Wgsl`] when the function takes pointers or is too large.
    pub fn new(module: &UserModule, function: FunctionHandle) -> Result<Interpreter> {
        let program = with_room(|| compile(module, function.0))
            .unwrap_or_else(|| Err(module.source.error_at(0, "this text failed to compile")))?;
        let Some(signature) = module.signature_of(function.0) else {
            return Err(module.source.error_at(0, "no such function"));
        };
        let loops = program
            .loops
            .iter()
            .map(|&span| module.source.place(span))
            .collect();
        Ok(Interpreter {
            program,
            signature,
            loops,
        })
    }

    /// The function's arguments and result.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Calls the function.
    ///
    /// # Errors
    /// [`Error::Inputs`] when the arguments do not fit the signature, and
    /// those of [`Interpreter::evaluate_words`].
    pub fn call(&self, arguments: &[Value]) -> Result<Value> {
        let mut words = Vec::with_capacity(self.program.argument_words);
        let fit = arguments.len() == self.signature.arguments.len()
            && arguments
                .iter()
                .zip(&self.signature.arguments)
                .all(|(value, (_, ty))| flatten(value, ty, &mut words));
        if !fit {
            return Err(self.misfit(format!(
                "the arguments do not fit the function {}",
                self.signature.declaration("")
            )));
        }
        let mut result = vec![0; self.program.result_words];
        self.evaluate_words(&words, &mut result, &mut Scratch::new())?;
        Ok(match &self.signature.result {
            Some(ty) => unflatten(ty, &mut result.into_iter()),
            None => Value::Composite(Vec::new()),
        })
    }

    /// Calls the function on words: arguments one after the other, structs
    /// member by member and matrices by columns without padding, floats by
    /// their bits, `bool` as 0 or 1. Allocates nothing.
    ///
    /// # Errors
    /// [`Error::Inputs`] when there are not as many words as the signature
    /// says; [`Error::Wgsl`] at a loop that does not end within 2^26 steps.
    pub fn evaluate_words(
        &self,
        arguments: &[u32],
        result: &mut [u32],
        scratch: &mut Scratch,
    ) -> Result<()> {
        if arguments.len() != self.program.argument_words
            || result.len() != self.program.result_words
        {
            return Err(self.misfit(format!(
                "{} words of arguments and {} of result; the function takes {} and gives {}",
                arguments.len(),
                result.len(),
                self.program.argument_words,
                self.program.result_words
            )));
        }
        machine::call(&self.program, arguments, result, scratch)
            .map_err(|number| self.endless(number))
    }

    #[cold]
    fn misfit(&self, problem: String) -> Error {
        Error::Inputs {
            operation: "WGSL operator".into(),
            problem,
        }
    }

    #[cold]
    fn endless(&self, number: u16) -> Error {
        let (line, column) = self.loops.get(number as usize).copied().unwrap_or((1, 1));
        Error::Wgsl {
            line,
            column,
            message: format!("this loop did not end within {STEP_LIMIT} steps"),
        }
    }
}

/// Appends the words of a value. `false` when it is not of the type.
fn flatten(value: &Value, ty: &Type, words: &mut Vec<u32>) -> bool {
    let all = |values: &[Value], count: usize, ty: &Type, words: &mut Vec<u32>| {
        values.len() == count && values.iter().all(|value| flatten(value, ty, words))
    };
    match (value, ty) {
        (Value::F32(value), Type::Scalar(ScalarType::F32)) => words.push(value.to_bits()),
        (Value::I32(value), Type::Scalar(ScalarType::I32)) => words.push(*value as u32),
        (Value::U32(value), Type::Scalar(ScalarType::U32)) => words.push(*value),
        (Value::Bool(value), Type::Scalar(ScalarType::Bool)) => words.push(*value as u32),
        (Value::Composite(values), Type::Vector(size, scalar)) => {
            return all(values, *size as usize, &Type::Scalar(*scalar), words);
        }
        (Value::Composite(values), Type::Matrix { columns, rows }) => {
            let column = Type::Vector(*rows, ScalarType::F32);
            return all(values, *columns as usize, &column, words);
        }
        (Value::Composite(values), Type::Array(element, length)) => {
            return all(values, *length as usize, element, words);
        }
        (Value::Composite(values), Type::Struct { fields, .. }) => {
            return values.len() == fields.len()
                && values
                    .iter()
                    .zip(fields)
                    .all(|(value, (_, ty))| flatten(value, ty, words));
        }
        _ => return false,
    }
    true
}

/// The value of the next words.
fn unflatten(ty: &Type, words: &mut std::vec::IntoIter<u32>) -> Value {
    let scalar = |scalar: ScalarType, word: u32| match scalar {
        ScalarType::F32 => Value::F32(f32::from_bits(word)),
        ScalarType::I32 => Value::I32(word as i32),
        ScalarType::U32 => Value::U32(word),
        ScalarType::Bool => Value::Bool(word != 0),
    };
    match ty {
        Type::Scalar(ty) => scalar(*ty, words.next().unwrap_or(0)),
        Type::Vector(size, ty) => {
            let components = words.take(*size as usize);
            Value::Composite(components.map(|word| scalar(*ty, word)).collect())
        }
        Type::Matrix { columns, rows } => {
            let column = Type::Vector(*rows, ScalarType::F32);
            Value::Composite((0..*columns).map(|_| unflatten(&column, words)).collect())
        }
        Type::Array(element, length) => {
            Value::Composite((0..*length).map(|_| unflatten(element, words)).collect())
        }
        Type::Struct { fields, .. } => Value::Composite(
            fields
                .iter()
                .map(|(_, field)| unflatten(field, words))
                .collect(),
        ),
        // Results are never pointers.
        Type::Pointer(_) => Value::Composite(Vec::new()),
    }
}
