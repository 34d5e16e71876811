//! Operators and expressions that users give as WGSL text.
//!
//! [`UserModule::parse`] checks the text with naga and refuses what has no
//! place inside an operator. [`Interpreter`] compiles one of its functions
//! into a flat register program, which is that operator's CPU twin.

mod check;
mod compile;
mod explain;
mod interpret;
mod layout;
mod location;
mod machine;
mod parse;
mod portability;
mod program;
mod room;
mod scalar;
mod scan;
mod types;

#[cfg(test)]
mod tests;

pub use interpret::{Interpreter, Value};
pub use machine::Scratch;
pub use parse::{FunctionHandle, UserModule};
pub use types::{ScalarType, Signature, Type};
