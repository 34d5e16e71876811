//! The WGSL, on every adapter.

use crate::device::runners;
use crate::jobs::{self, Effort};

const CONVERT: &str = include_str!("../../shaders/dtype/convert.wgsl");
const MATH: &str = include_str!("../../shaders/op/math.wgsl");

/// `PORTCULLIS_MATH_ONLY=sin,cos'` runs these alone.
#[test]
fn every_function_keeps_its_bound_on_every_adapter() {
    let library = [CONVERT, MATH].concat();
    let runners = runners();
    assert!(!runners.is_empty(), "no Vulkan adapter to test on");
    let only = std::env::var("PORTCULLIS_MATH_ONLY").ok();
    let wanted = |name: &str| match &only {
        Some(names) => names.split(',').any(|wanted| wanted == name),
        None => true,
    };
    let effort = Effort {
        draws: 1 << 16,
        stride: 5003,
        pairs: 1 << 16,
    };
    let mut failures = Vec::new();
    for job in jobs::all(effort).iter().filter(|job| wanted(&job.name)) {
        for runner in &runners {
            let outputs = runner.run(&library, &job.expression, &job.inputs);
            let mut worst = (0.0, [0; 3], 0);
            // Apart from results so small that flushing decides.
            let mut worst_normal: f64 = 0.0;
            for (&input, &output) in job.inputs.iter().zip(&outputs) {
                let ratio = (job.judge)(input, output);
                if ratio > worst.0 {
                    worst = (ratio, input, output);
                }
                if f32::from_bits(output).abs() > 1e-30 {
                    worst_normal = worst_normal.max(ratio);
                }
            }
            let [a, b, c] = worst.1;
            let line = format!(
                "{:<11} {:<22} {:<6.3} {worst_normal:<6.3} at {a:#010x} {b:#010x} {c:#010x} gave {:#010x}",
                runner.name.split([' ', '(']).next().unwrap_or_default(),
                job.name,
                worst.0,
                worst.2,
            );
            println!("{line}");
            if worst.0 > 1.0 {
                failures.push(line);
            }
        }
    }
    assert!(
        failures.is_empty(),
        "beyond the bound:\n{}",
        failures.join("\n")
    );
}

/// What the back ends make of it: valid WGSL, with nothing beyond the core
/// language, for Vulkan, Metal, Direct3D and the web.
#[test]
fn validates_without_any_capability() {
    for source in [CONVERT, MATH] {
        let module = naga::front::wgsl::parse_str(source).unwrap_or_else(|error| {
            panic!("{}", error.emit_to_string(source));
        });
        let flags = naga::valid::ValidationFlags::all();
        naga::valid::Validator::new(flags, naga::valid::Capabilities::empty())
            .validate(&module)
            .expect("valid");
    }
}
