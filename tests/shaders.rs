//! Every kernel that gates would run, translated for every backend of wgpu,
//! with no device at hand: what fails here would fail on a Mac or on Windows.

use std::collections::HashMap;

use naga::ShaderStage::Compute;
use naga::back::{glsl, hlsl, msl, spv, wgsl};
use naga::valid::{Capabilities as Features, ModuleInfo, ValidationFlags, Validator};
use portcullis::device::{CooperativeMatrix, SubgroupSizes};
use portcullis::gate::{Effort, Selection, plans};
use portcullis::{Capabilities, Error, Variant, wgpu};

/// Devices to plan for, from the least to the most capable.
fn devices() -> Vec<(&'static str, Capabilities)> {
    let baseline = Capabilities::baseline();
    let subgroups = Capabilities {
        subgroups: Some(SubgroupSizes { min: 4, max: 128 }),
        unchecked_shaders: true,
        ..baseline.clone()
    };
    let mut small = baseline.clone();
    small.limits.max_compute_workgroups_per_dimension = 7;
    small.limits.max_storage_buffer_binding_size = 64 << 10;
    let matrix = |(size, factors, result): (u32, &str, &str)| CooperativeMatrix {
        m: size,
        n: size,
        k: size,
        factors: factors.into(),
        result: result.into(),
    };
    let mut large = Capabilities {
        subgroups: Some(SubgroupSizes { min: 32, max: 32 }),
        f16: true,
        cooperative_matrices: [(16, "F16", "F32"), (16, "F16", "F16"), (8, "F32", "F32")]
            .map(matrix)
            .into(),
        ..subgroups.clone()
    };
    large.limits.max_storage_buffer_binding_size = 2 << 30;
    large.limits.max_compute_workgroup_storage_size = 48 << 10;
    large.limits.max_compute_invocations_per_workgroup = 1024;
    large.limits.max_compute_workgroup_size_x = 1024;
    vec![
        ("baseline", baseline),
        ("subgroups", subgroups),
        ("small", small),
        ("large", large),
    ]
}

/// Parses `text` and translates it for every backend that has what it uses.
/// Gives the backends, or the first complaint.
fn translate(text: &str) -> Result<Vec<&'static str>, String> {
    let module =
        naga::front::wgsl::parse_str(text).map_err(|e| e.emit_to_string_with_path(text, "wgsl"))?;
    let uses = |feature: Features| {
        let without = Features::all() - feature;
        Validator::new(ValidationFlags::all(), without)
            .validate(&module)
            .is_err()
    };
    let mut backends = vec!["wgsl", "spv", "msl"];
    if !uses(Features::COOPERATIVE_MATRIX) {
        backends.push("hlsl");
        // The compiler for DX12 without DXC, and GL, have neither.
        if !uses(Features::SUBGROUP) && !uses(Features::SHADER_FLOAT16) {
            backends.extend(["hlsl 5.1", "glsl"]);
        }
    }
    for backend in &backends {
        let supported = match *backend {
            "wgsl" => Features::all(),
            "spv" => spv::supported_capabilities(),
            "msl" => msl::supported_capabilities(),
            "glsl" => glsl::supported_capabilities(),
            _ => hlsl::supported_capabilities(),
        };
        let complaint = |e: String| format!("{backend}: {e}");
        let info = Validator::new(ValidationFlags::all(), supported)
            .validate(&module)
            .map_err(|e| complaint(e.emit_to_string_with_path(text, "wgsl")))?;
        let entry = Some((Compute, "main"));
        let (module, info) = naga::back::pipeline_constants::process_overrides(
            &module,
            &info,
            entry,
            &Default::default(),
        )
        .map_err(|e| complaint(e.to_string()))?;
        write(backend, &module, &info).map_err(complaint)?;
    }
    Ok(backends)
}

fn write(backend: &str, module: &naga::Module, info: &ModuleInfo) -> Result<(), String> {
    let entry = Some((Compute, "main".to_string()));
    match backend {
        "spv" => {
            let options = spv::Options {
                lang_version: (1, 3),
                ..Default::default()
            };
            let pipeline = spv::PipelineOptions {
                shader_stage: Compute,
                entry_point: "main".into(),
            };
            spv::write_vec(module, info, &options, Some(&pipeline)).map_err(|e| e.to_string())?;
        }
        "msl" => {
            let options = msl::Options {
                lang_version: (3, 0),
                ..Default::default()
            };
            let pipeline = msl::PipelineOptions {
                entry_point: entry,
                ..Default::default()
            };
            let (_, translation) =
                msl::write_string(module, info, &options, &pipeline).map_err(|e| e.to_string())?;
            for name in translation.entry_point_names {
                name.map_err(|e| e.to_string())?;
            }
        }
        "hlsl" | "hlsl 5.1" => {
            let options = hlsl::Options {
                shader_model: if backend == "hlsl" {
                    hlsl::ShaderModel::V6_2
                } else {
                    hlsl::ShaderModel::V5_1
                },
                ..Default::default()
            };
            let pipeline = hlsl::PipelineOptions { entry_point: entry };
            let mut text = String::new();
            let reflection = hlsl::Writer::new(&mut text, &options, &pipeline)
                .write(module, info, None)
                .map_err(|e| e.to_string())?;
            for name in reflection.entry_point_names {
                name.map_err(|e| e.to_string())?;
            }
        }
        "glsl" => {
            let pipeline = glsl::PipelineOptions {
                shader_stage: Compute,
                entry_point: "main".into(),
                multiview: None,
            };
            let (mut text, options) = (String::new(), glsl::Options::default());
            glsl::Writer::new(
                &mut text,
                module,
                info,
                &options,
                &pipeline,
                Default::default(),
            )
            .and_then(|mut writer| writer.write())
            .map_err(|e| e.to_string())?;
        }
        _ => {
            let text = wgsl::write_string(module, info, wgsl::WriterFlags::empty())
                .map_err(|e| e.to_string())?;
            naga::front::wgsl::parse_str(&text).map_err(|e| e.emit_to_string(&text))?;
        }
    }
    Ok(())
}

#[test]
fn every_kernel_translates_for_every_backend() {
    // By text: the first plan that has it is enough to name it.
    let mut texts: HashMap<String, String> = HashMap::new();
    let mut problems = Vec::new();
    for (device, capabilities) in devices() {
        let mut planned_here = 0;
        for effort in [Effort::Quick, Effort::Standard] {
            let selection = Selection::all(effort);
            for planned in plans(&capabilities, &selection).expect("the registry has problems") {
                let name = format!("{planned} on {device}");
                let plan = match &planned.plan {
                    Ok(plan) => plan,
                    // WebGPU's default limits are what the portable variant is made for.
                    Err(error @ Error::Unavailable { .. })
                        if planned.variant == Variant::Portable && device == "baseline" =>
                    {
                        problems.push(format!("{name}: {error}"));
                        continue;
                    }
                    Err(Error::Unavailable { .. } | Error::Limit { .. }) => continue,
                    Err(error) => {
                        problems.push(format!("{name}: {error}"));
                        continue;
                    }
                };
                planned_here += 1;
                problems.extend(beyond(&name, plan, &capabilities));
                for step in &plan.steps {
                    match step.kernel.link(false) {
                        Ok(linked) => {
                            let kernel = format!("{}.wgsl of {name}", step.kernel.root);
                            texts.entry(linked.text).or_insert(kernel);
                        }
                        Err(error) => problems.push(format!("{name}: {error}")),
                    }
                }
            }
        }
        assert!(planned_here > 0, "nothing could be planned for {device}");
    }
    for (text, name) in &texts {
        if let Err(complaint) = translate(text) {
            problems.push(format!("{name}: {complaint}"));
        }
    }
    problems.sort();
    assert!(
        problems.is_empty(),
        "{} of {} kernels and plans:\n{}",
        problems.len(),
        texts.len(),
        problems.join("\n")
    );
}

/// What a plan asks for beyond the limits of its device.
fn beyond(name: &str, plan: &portcullis::plan::Plan, capabilities: &Capabilities) -> Vec<String> {
    let limits = &capabilities.limits;
    let mut problems = Vec::new();
    for step in &plan.steps {
        let root = step.kernel.root;
        let most = limits.max_compute_workgroups_per_dimension;
        if step.workgroups.iter().any(|&n| n == 0 || n > most) {
            problems.push(format!("{name}: {root}: workgroups {:?}", step.workgroups));
        }
        if step.kernel.bindings.len() > limits.max_storage_buffers_per_shader_stage as usize {
            let count = step.kernel.bindings.len();
            problems.push(format!("{name}: {root}: {count} storage buffers"));
        }
        if step.kernel.uses_subgroups() && capabilities.subgroups.is_none() {
            problems.push(format!(
                "{name}: {root}: subgroups, which the device has not"
            ));
        }
    }
    for scratch in &plan.scratch {
        if scratch.bytes > limits.max_storage_buffer_binding_size {
            problems.push(format!("{name}: {} bytes of scratch", scratch.bytes));
        }
    }
    problems
}

#[test]
fn a_planted_fault_of_each_kind_is_reported() {
    let sound = "@compute @workgroup_size(64) fn main() { workgroupBarrier(); }";
    let everywhere = ["wgsl", "spv", "msl", "hlsl", "hlsl 5.1", "glsl"];
    assert_eq!(translate(sound).unwrap(), everywhere);
    let planted = [
        (
            "syntax",
            "@compute @workgroup_size(64) fn main() { let x = ; }",
        ),
        (
            "type",
            "@compute @workgroup_size(64) fn main() { let x: u32 = 1.5; }",
        ),
        (
            "no Metal has f64",
            "@compute @workgroup_size(64) fn main() { var x = 1.0lf; x = x * x; }",
        ),
        ("entry point", "@compute @workgroup_size(64) fn other() {}"),
    ];
    for (fault, text) in planted {
        assert!(translate(text).is_err(), "{fault} was not reported");
    }
    let subgroup = "@compute @workgroup_size(64) fn main() { _ = subgroupAdd(1u); }";
    assert_eq!(translate(subgroup).unwrap(), ["wgsl", "spv", "msl", "hlsl"]);

    let baseline = Capabilities::baseline();
    let all = Selection::all(Effort::Quick);
    let mut plan = plans(&baseline, &all)
        .unwrap()
        .find_map(|planned| planned.plan.ok().filter(|plan| !plan.steps.is_empty()))
        .unwrap();
    assert_eq!(beyond("sound", &plan, &baseline), [""; 0]);
    plan.steps[0].workgroups[1] = wgpu::Limits::default().max_compute_workgroups_per_dimension + 1;
    assert_eq!(beyond("planted", &plan, &baseline).len(), 1);
}
