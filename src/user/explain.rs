//! naga's errors in this crate's words and places.

use std::error::Error as _;

use naga::front::wgsl::ParseError;
use naga::valid::{FunctionError, ValidationError};
use naga::{Block, Expression, Function, Handle, Module, Span, Statement, TypeInner, WithSpan};

use super::layout::describe;
use super::location::Source;
use crate::error::Error;

/// An error of naga's front end.
pub(super) fn parse_error(source: &Source, error: &ParseError) -> Error {
    let mut message = error.message().to_string();
    // naga's label for "nothing to add".
    let telling = |label: &str| !label.is_empty() && label != "see msg";
    for (_, label) in error.labels().filter(|(_, label)| telling(label)) {
        message.push_str(&format!("; {label}"));
    }
    for note in error.notes() {
        message.push_str(&format!("; note: {note}"));
    }
    source.error_among(error.labels().map(|(span, _)| span), one_line(&message))
}

/// An error of naga's validator.
pub(super) fn validation_error(
    source: &Source,
    module: &Module,
    error: &WithSpan<ValidationError>,
) -> Error {
    if let ValidationError::Function {
        handle,
        source: fault,
        ..
    } = error.as_inner()
        && let Some((span, message)) = statement_error(module, *handle, fault)
    {
        return source.error(span, message);
    }
    let mut message = error.as_inner().to_string();
    let mut cause = error.as_inner().source();
    while let Some(next) = cause {
        message.push_str(&format!(": {next}"));
        cause = next.source();
    }
    // naga lists the expression at fault and the function around it; the
    // narrowest is the most telling.
    let mut spans: Vec<Span> = error.spans().map(|(span, _)| *span).collect();
    spans.sort_by_key(|span| span.to_range().map_or(usize::MAX, |range| range.len()));
    source.error_among(spans.into_iter(), one_line(&message))
}

/// Where naga points at the operand of a statement, which may be as far off as
/// an argument's declaration: the statement itself.
fn statement_error(
    module: &Module,
    handle: Handle<Function>,
    fault: &FunctionError,
) -> Option<(Span, String)> {
    let function = module.functions.try_get(handle).ok()?;
    let find = |wanted: &dyn Fn(&Statement) -> bool| find_statement(&function.body, wanted);
    match *fault {
        FunctionError::InvalidReturnType {
            expression: Some(value),
            expected_ty,
        } => {
            let span = find(
                &|statement| matches!(statement, Statement::Return { value: Some(v) } if *v == value),
            )?;
            let message = match expected_ty.and_then(|ty| describe(module, ty)) {
                Some(ty) => format!("this `return` must give the function's result type {ty}"),
                None => "this `return` gives a value, but the function has no result".into(),
            };
            Some((span, message))
        }
        FunctionError::InvalidReturnType {
            expression: None, ..
        } => {
            // naga appends a return to functions that lack one, without a place.
            let span = find(&|statement| matches!(statement, Statement::Return { value: None }))
                .filter(|span| span.is_defined())
                .unwrap_or(module.functions.get_span(handle));
            Some((
                span,
                "the function must end every path with a `return` of its result".into(),
            ))
        }
        FunctionError::InvalidIfType(condition) => {
            let span = find(&|statement| match statement {
                Statement::If { condition: c, .. } => *c == condition,
                Statement::Loop { break_if, .. } => *break_if == Some(condition),
                _ => false,
            })?;
            Some((span, "the condition must be a bool".into()))
        }
        FunctionError::InvalidSwitchType(value) => {
            let span = find(
                &|statement| matches!(statement, Statement::Switch { selector, .. } if *selector == value),
            )?;
            Some((span, "the value of `switch` must be an i32 or a u32".into()))
        }
        FunctionError::InvalidStoreTypes { pointer, value } => {
            let span = find(
                &|statement| matches!(statement, Statement::Store { pointer: p, value: v } if *p == pointer && *v == value),
            )?;
            Some((
                span,
                "the value is not of the type of what it is assigned to".into(),
            ))
        }
        _ => None,
    }
}

fn find_statement(block: &Block, wanted: &dyn Fn(&Statement) -> bool) -> Option<Span> {
    block.span_iter().find_map(|(statement, &span)| {
        if wanted(statement) {
            return Some(span);
        }
        match statement {
            Statement::Block(block) => find_statement(block, wanted),
            Statement::If { accept, reject, .. } => {
                find_statement(accept, wanted).or_else(|| find_statement(reject, wanted))
            }
            Statement::Switch { cases, .. } => cases
                .iter()
                .find_map(|case| find_statement(&case.body, wanted)),
            Statement::Loop {
                body, continuing, ..
            } => find_statement(body, wanted).or_else(|| find_statement(continuing, wanted)),
            _ => None,
        }
    })
}

/// The first place where a type is of consequence. naga names none for most
/// types.
pub(super) fn place_of_type(module: &Module, ty: Handle<naga::Type>) -> Span {
    let declared = module.types.get_span(ty);
    if declared.is_defined() {
        return declared;
    }
    let made_of = made_of(module, ty);
    let made = |ty: Handle<naga::Type>| made_of.get(ty.index()) == Some(&true);
    let structs = module
        .types
        .iter()
        .filter(|(handle, _)| made(*handle))
        .map(|(handle, _)| module.types.get_span(handle));
    let functions = module.functions.iter().flat_map(|(handle, function)| {
        let in_signature = function.arguments.iter().any(|argument| made(argument.ty))
            || function
                .result
                .as_ref()
                .is_some_and(|result| made(result.ty));
        let signature = in_signature.then(|| module.functions.get_span(handle));
        let variables = function
            .local_variables
            .iter()
            .filter(move |(_, variable)| made(variable.ty))
            .map(|(handle, _)| function.local_variables.get_span(handle));
        let expressions = function
            .expressions
            .iter()
            .filter(move |(_, expression)| match **expression {
                Expression::ZeroValue(ty) | Expression::Compose { ty, .. } => made(ty),
                _ => false,
            })
            .map(|(handle, _)| function.expressions.get_span(handle));
        signature.into_iter().chain(variables).chain(expressions)
    });
    structs
        .chain(functions)
        .find(|span| span.is_defined())
        .unwrap_or(Span::UNDEFINED)
}

/// Which types are `ty` or contain it.
fn made_of(module: &Module, ty: Handle<naga::Type>) -> Vec<bool> {
    let mut result: Vec<bool> = Vec::with_capacity(module.types.len());
    // A type comes after those that it is made of.
    for (handle, candidate) in module.types.iter() {
        let made = |part: &Handle<naga::Type>| result.get(part.index()) == Some(&true);
        let contains = match &candidate.inner {
            TypeInner::Array { base, .. } | TypeInner::Pointer { base, .. } => made(base),
            TypeInner::Struct { members, .. } => members.iter().any(|member| made(&member.ty)),
            _ => false,
        };
        result.push(handle == ty || contains);
    }
    result
}

/// A message on one line, of a length to be read: naga quotes identifiers of
/// any length.
fn one_line(message: &str) -> String {
    const LONGEST: usize = 2000;
    let mut line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(LONGEST) {
        line.truncate(end);
        line.push_str(" ...");
    }
    line
}
