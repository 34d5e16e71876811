//! The types and signatures of the functions in a user's text.

use std::fmt;

/// A scalar type of WGSL that operators may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the field's own")]
pub enum ScalarType {
    F32,
    I32,
    U32,
    Bool,
}

/// A type of WGSL that operators may use.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    /// A scalar.
    Scalar(ScalarType),
    /// A vector of 2, 3 or 4 components.
    Vector(u8, ScalarType),
    /// A matrix of `f32`.
    Matrix {
        /// The number of columns.
        columns: u8,
        /// The number of rows.
        rows: u8,
    },
    /// An array of constant length.
    Array(Box<Type>, u32),
    /// A struct.
    Struct {
        /// The struct's name.
        name: String,
        /// Names and types of its members, in order.
        fields: Vec<(String, Type)>,
    },
    /// A pointer to a variable of a function.
    Pointer(Box<Type>),
}

/// The arguments and result of a function.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Signature {
    /// Names and types of the arguments, in order.
    pub arguments: Vec<(String, Type)>,
    /// The type of the result, if there is one.
    pub result: Option<Type>,
}

impl Type {
    /// `f32`.
    pub const F32: Type = Type::Scalar(ScalarType::F32);
    /// `i32`.
    pub const I32: Type = Type::Scalar(ScalarType::I32);
    /// `u32`.
    pub const U32: Type = Type::Scalar(ScalarType::U32);
    /// `bool`.
    pub const BOOL: Type = Type::Scalar(ScalarType::Bool);

    /// The number of 32-bit words of a value, without padding: components in
    /// order, matrices by columns, struct members in order.
    pub fn words(&self) -> usize {
        match self {
            Type::Scalar(_) | Type::Pointer(_) => 1,
            Type::Vector(size, _) => *size as usize,
            Type::Matrix { columns, rows } => *columns as usize * *rows as usize,
            Type::Array(element, length) => element.words().saturating_mul(*length as usize),
            Type::Struct { fields, .. } => fields
                .iter()
                .fold(0, |sum, (_, field)| sum.saturating_add(field.words())),
        }
    }
}

impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ScalarType::F32 => "f32",
            ScalarType::I32 => "i32",
            ScalarType::U32 => "u32",
            ScalarType::Bool => "bool",
        })
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Scalar(scalar) => scalar.fmt(f),
            Type::Vector(size, scalar) => write!(f, "vec{size}<{scalar}>"),
            Type::Matrix { columns, rows } => write!(f, "mat{columns}x{rows}<f32>"),
            Type::Array(element, length) => write!(f, "array<{element}, {length}>"),
            Type::Struct { name, .. } => f.write_str(name),
            Type::Pointer(base) => write!(f, "ptr<function, {base}>"),
        }
    }
}

impl Signature {
    /// The declaration of a function `name` of this signature.
    pub fn declaration(&self, name: &str) -> String {
        let arguments: Vec<String> = self
            .arguments
            .iter()
            .map(|(name, ty)| format!("{name}: {ty}"))
            .collect();
        let result = match &self.result {
            Some(ty) => format!(" -> {ty}"),
            None => String::new(),
        };
        format!("{name}({}){result}", arguments.join(", "))
    }
}
