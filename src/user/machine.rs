//! Running register programs.

use super::program::{Instruction, Op, Program, REGISTERS, STEP_LIMIT};

/// The registers in which an [`Interpreter`](super::Interpreter) works. Make
/// one for each thread and use it for many calls, also of several interpreters.
pub struct Scratch {
    registers: Box<[u32; REGISTERS]>,
    /// The program whose constants the registers hold.
    owner: u64,
}

impl Scratch {
    /// Registers for any interpreter.
    pub fn new() -> Scratch {
        Scratch {
            registers: bytemuck::zeroed_box(),
            owner: 0,
        }
    }
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch::new()
    }
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scratch").finish_non_exhaustive()
    }
}

/// Calls a program. `arguments` and `result` must be as long as it says.
///
/// # Errors
/// The number of a loop that did not end within the step limit.
pub(super) fn call(
    program: &Program,
    arguments: &[u32],
    result: &mut [u32],
    scratch: &mut Scratch,
) -> Result<(), u16> {
    let registers = &mut *scratch.registers;
    if scratch.owner != program.id {
        for (register, &value) in registers.iter_mut().rev().zip(&program.constants) {
            *register = value;
        }
        scratch.owner = program.id;
    }
    for (register, &argument) in registers.iter_mut().zip(arguments) {
        *register = argument;
    }
    run(&program.code, registers)?;
    for (out, &register) in result
        .iter_mut()
        .zip(registers.iter().skip(program.result as usize))
    {
        *out = register;
    }
    Ok(())
}

fn run(code: &[Instruction], registers: &mut [u32; REGISTERS]) -> Result<(), u16> {
    let mut next = 0;
    let mut steps = STEP_LIMIT;
    while let Some(&Instruction { op, to, a, b, c }) = code.get(next) {
        next += 1;
        match op {
            Op::Binary(binary) => {
                let value = binary.apply(registers[a as usize], registers[b as usize]);
                registers[to as usize] = value;
            }
            Op::Unary(unary) => registers[to as usize] = unary.apply(registers[a as usize]),
            Op::Ternary(ternary) => {
                let value = ternary.apply(
                    registers[a as usize],
                    registers[b as usize],
                    registers[c as usize],
                );
                registers[to as usize] = value;
            }
            Op::Move => registers[to as usize] = registers[a as usize],
            Op::Copy => copy(registers, to, a, c),
            Op::Zero => {
                for i in 0..c {
                    registers[to.wrapping_add(i) as usize] = 0;
                }
            }
            Op::Index => {
                let element = registers[a as usize].min(b as u32);
                registers[to as usize] = element.wrapping_mul(c as u32);
            }
            Op::LoadAt => {
                let from = a.wrapping_add(registers[b as usize] as u16);
                copy(registers, to, from, c);
            }
            Op::StoreAt => {
                let to = to.wrapping_add(registers[b as usize] as u16);
                copy(registers, to, a, c);
            }
            Op::Jump => next = c as usize,
            Op::JumpIf => {
                if registers[a as usize] != 0 {
                    next = c as usize;
                }
            }
            Op::JumpUnless => {
                if registers[a as usize] == 0 {
                    next = c as usize;
                }
            }
            Op::JumpEqual => {
                if registers[a as usize] == registers[b as usize] {
                    next = c as usize;
                }
            }
            Op::Repeat => {
                let cost = a as u32 | (b as u32) << 16;
                steps = steps.checked_sub(cost).ok_or(to)?;
                next = c as usize;
            }
        }
    }
    Ok(())
}

fn copy(registers: &mut [u32; REGISTERS], to: u16, from: u16, count: u16) {
    for i in 0..count {
        registers[to.wrapping_add(i) as usize] = registers[from.wrapping_add(i) as usize];
    }
}
