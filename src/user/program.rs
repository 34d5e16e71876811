//! The register programs that functions are compiled into.

use std::sync::atomic::{AtomicU64, Ordering};

use naga::Span;

use super::scalar::{Binary, Ternary, Unary};

/// The number of registers. A `u16` always names one, so the machine needs no
/// bounds checks.
pub(super) const REGISTERS: usize = 1 << 16;
/// The most instructions of a program: jump targets are `u16`.
pub(super) const MAX_CODE: usize = 1 << 16;
/// The most work of one call, in words written. Beyond it, a loop counts as endless.
pub(super) const STEP_LIMIT: u32 = 1 << 26;

/// What an instruction does with its fields `to`, `a`, `b` and `c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    /// Register `to` gets a function of register `a`.
    Unary(Unary),
    /// Register `to` gets a function of registers `a` and `b`.
    Binary(Binary),
    /// Register `to` gets a function of registers `a`, `b` and `c`.
    Ternary(Ternary),
    /// Register `to` gets register `a`.
    Move,
    /// `c` registers from `to` get those from `a`.
    Copy,
    /// `c` registers from `to` become 0.
    Zero,
    /// Register `to` gets the word offset of element `a` (a register), clamped
    /// to at most `b`, of elements of `c` words.
    Index,
    /// `c` registers from `to` get those from `a` plus the offset in register `b`.
    LoadAt,
    /// `c` registers from `to` plus the offset in register `b` get those from `a`.
    StoreAt,
    /// Goes to instruction `c`.
    Jump,
    /// Goes to instruction `c` if register `a` is not 0.
    JumpIf,
    /// Goes to instruction `c` if register `a` is 0.
    JumpUnless,
    /// Goes to instruction `c` if registers `a` and `b` are equal.
    JumpEqual,
    /// Goes back to instruction `c`, the start of a loop of which one
    /// iteration costs `a` plus 65536 `b` steps; `to` is the loop's number.
    Repeat,
}

/// One step of a program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instruction {
    pub op: Op,
    pub to: u16,
    pub a: u16,
    pub b: u16,
    pub c: u16,
}

/// A function, compiled. Arguments are in the registers from 0; the program
/// ends where its code does.
#[derive(Debug)]
pub(super) struct Program {
    /// Tells programs apart, so that a scratch knows whose constants it holds.
    pub id: u64,
    pub code: Vec<Instruction>,
    /// The values of the registers from the last one downwards.
    pub constants: Vec<u32>,
    /// Where each loop is in the text.
    pub loops: Vec<Span>,
    pub argument_words: usize,
    pub result: u16,
    pub result_words: usize,
}

impl Program {
    /// A number that no other program of this process has.
    pub fn fresh_id() -> u64 {
        // 0 is for a scratch that no program has used.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        NEXT.fetch_add(1, Ordering::Relaxed)
    }
}
