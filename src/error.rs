//! Every way in which a request can be refused.
//!
//! A message says what was asked, what the limit is, and the way out.

use crate::dtype::DType;

/// The result of every fallible call in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, with enough to act on. `Clone`, so that one failure can
/// be reported by every result that depends on it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Shapes that do not fit the operation or each other.
    #[error("{operation}: {problem}")]
    Shape {
        /// The operation that was asked for.
        operation: String,
        /// Which shapes, and what would fit.
        problem: String,
    },
    /// A dtype that the operation does not take.
    #[error(
        "{operation}: input `{input}` is {found}; this operation takes {accepted}. Convert it with `cast`"
    )]
    DType {
        /// The operation that was asked for.
        operation: String,
        /// The input's name.
        input: String,
        /// The dtype given.
        found: DType,
        /// The dtypes that would do.
        accepted: String,
    },
    /// An axis beyond the rank of its tensor.
    #[error(
        "{operation}: axis {axis} does not exist in a tensor of rank {rank}; axes are -{rank}..{rank}"
    )]
    Axis {
        /// The operation that was asked for.
        operation: String,
        /// The axis given.
        axis: i64,
        /// The tensor's rank.
        rank: usize,
    },
    /// A parameter that is unknown, missing, of the wrong type or out of range.
    #[error("{operation}: parameter `{parameter}`: {problem}")]
    Parameter {
        /// The operation that was asked for.
        operation: String,
        /// The parameter's name.
        parameter: String,
        /// What is wrong and what would do.
        problem: String,
    },
    /// An input that is missing, or one too many.
    #[error("{operation}: {problem}")]
    Inputs {
        /// The operation that was asked for.
        operation: String,
        /// What is wrong and what would do.
        problem: String,
    },
    /// A reduction over nothing, by an operator without an identity.
    #[error(
        "{operation}: the reduced extent is 0 and {operation} of nothing has no value; check for emptiness first"
    )]
    Empty {
        /// The operation that was asked for.
        operation: String,
    },
    /// A limit of the device, or of 32-bit indices.
    #[error("{operation}: asks for {asked} {what}, the limit is {limit}. {way_out}")]
    Limit {
        /// The operation that was asked for.
        operation: String,
        /// What is limited.
        what: String,
        /// How much was asked for.
        asked: u64,
        /// How much there is.
        limit: u64,
        /// What to do instead.
        way_out: String,
    },
    /// A buffer that cannot serve as the view it was bound to.
    #[error("{operation}: buffer for `{slot}`: {problem}")]
    Buffer {
        /// The operation that was asked for.
        operation: String,
        /// The input, output or scratch slot.
        slot: String,
        /// What is wrong and what would do.
        problem: String,
    },
    /// An operation name that the registry does not hold.
    #[error("no operation is called `{name}`{}", suggestion.as_ref().map(|s| format!("; did you mean `{s}`?")).unwrap_or_else(|| "; `portcullis ops` lists them".into()))]
    UnknownOperation {
        /// The name asked for.
        name: String,
        /// The nearest name that exists.
        suggestion: Option<String>,
    },
    /// A variant that cannot run here, was forbidden, or failed its probe.
    #[error("{operation}: {reason}")]
    Unavailable {
        /// The operation that was asked for.
        operation: String,
        /// Each variant considered, and why it was not used.
        reason: String,
    },
    /// WGSL text of the user's that does not do as an operator.
    #[error("WGSL operator, line {line}, column {column}: {message}")]
    Wgsl {
        /// Line within the user's text, from 1.
        line: u32,
        /// Column within that line, from 1.
        column: u32,
        /// What naga or this crate has against it.
        message: String,
    },
    /// A kernel of this crate that did not link or compile: a bug here or in a driver.
    #[error("kernel {kernel}: {message}")]
    Kernel {
        /// The kernel's name.
        kernel: String,
        /// The linker's or compiler's message.
        message: String,
    },
    /// No adapter fits what was asked for.
    #[error("no adapter: {0}")]
    NoAdapter(String),
    /// The device is gone, and every tensor on it.
    #[error("the device was lost ({0}); request a new one and upload again")]
    DeviceLost(String),
    /// The device had no room.
    #[error("out of device memory for {what} ({bytes} bytes); free tensors or use smaller pieces")]
    OutOfMemory {
        /// What the memory was for.
        what: String,
        /// How much was asked for.
        bytes: u64,
    },
    /// The driver refused a command that this crate holds to be valid.
    #[error("{operation}: the device refused a command: {message}")]
    Device {
        /// The operation that was under way.
        operation: String,
        /// wgpu's message.
        message: String,
    },
    /// A file that cannot be read, written or understood.
    #[error("{path}: {problem}")]
    File {
        /// The file's path, as given.
        path: String,
        /// What is wrong and what would do.
        problem: String,
    },
}
