//! The command line: `portcullis devices | ops | gate | run | bench`.

mod bench;
mod devices;
mod gate;
mod junit;
mod ops;
mod run;
mod table;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// GPU compute kernels, gated: prove on this machine's adapters that every
/// kernel is right, and measure how fast.
#[derive(Parser)]
#[command(version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List adapters, what they can do, and which variant each operation would use there.
    Devices(devices::Arguments),
    /// List operations: inputs, outputs, parameters, dtypes, variants.
    Ops(ops::Arguments),
    /// Check every operation, in every variant, on every adapter and the CPU.
    Gate(gate::Arguments),
    /// Run one operation on .npy, .npz or .safetensors files.
    Run(run::Arguments),
    /// Measure speed, of verified outputs only.
    Bench(bench::Arguments),
}

/// What a command came to.
type Outcome = Result<bool, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match arguments.command {
        Command::Devices(arguments) => devices::main(&arguments),
        Command::Ops(arguments) => ops::main(&arguments),
        Command::Gate(arguments) => gate::main(&arguments),
        Command::Run(arguments) => run::main(&arguments),
        Command::Bench(arguments) => bench::main(&arguments),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("portcullis: {error}");
            ExitCode::from(2)
        }
    }
}

/// Prints a line to standard output. A reader that went away (`| head`) ends
/// the program quietly.
fn say(line: impl std::fmt::Display) {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{line}").is_err() {
        std::process::exit(0);
    }
}
