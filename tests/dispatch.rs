//! Which variant runs, why not a faster one, and that wrong ones do not.

mod common;

use portcullis::gate;
use portcullis::plan::Param;
use portcullis::{
    Call, DType, Device, Error, Gpu, Params, Policy, Selector, Tensor, TensorSpec, Variant, ops,
    registry,
};

fn softmax_call() -> Call {
    let spec = TensorSpec::new(DType::F32, [4, 8]);
    Call::new(
        registry::find("softmax").unwrap(),
        vec![Some(spec)],
        &Params::new(),
    )
    .unwrap()
}

/// A handle of its own on an adapter with subgroups: caches and probes start empty.
fn with_subgroups() -> Vec<Gpu> {
    let subgroups = common::gpus()
        .iter()
        .filter(|gpu| gpu.capabilities().subgroups.is_some());
    subgroups.map(|gpu| gpu.with_capabilities(|_| ())).collect()
}

fn decide(gpu: &Gpu, policy: &Policy) -> Result<portcullis::Decision, Error> {
    pollster::block_on(gpu.prepare(&softmax_call(), policy))
}

#[test]
fn the_fastest_variant_that_passes_its_probe_runs() {
    for gpu in with_subgroups() {
        let decision = decide(&gpu, &Policy::default()).unwrap();
        assert_eq!(decision.variant, Variant::Subgroup, "{decision}");
        assert!(decision.rejected.is_empty());
    }
}

#[test]
fn a_wrong_variant_is_demoted_by_its_probe() {
    for gpu in with_subgroups() {
        // One row too few: the last is never written.
        gpu.inject(|plan| {
            if plan.variant == Variant::Subgroup
                && let Some(Param::Word(rows)) =
                    plan.steps.last_mut().and_then(|s| s.params.get_mut(1))
            {
                *rows -= 1;
            }
        });
        let decision = decide(&gpu, &Policy::default()).unwrap();
        assert_eq!(decision.variant, Variant::Portable);
        let [rejection] = &decision.rejected[..] else {
            panic!("{decision}")
        };
        assert_eq!(rejection.variant, Variant::Subgroup);
        assert!(rejection.reason.contains("failed its probe"), "{decision}");

        // The tensor layer keeps to it, and its result says so.
        let device = Device::from_gpu(gpu, Policy::default());
        let x = Tensor::from_slice(&device, &[0.0f32; 32], &[4, 8]).unwrap();
        let outputs = ops::call("softmax", &[Some(&x)], &Params::new()).unwrap();
        assert_eq!(outputs.decision().variant, Variant::Portable);
        assert!(outputs.decision().to_string().contains("failed its probe"));
        assert_eq!(
            outputs.get("y").unwrap().to_vec_blocking::<f32>().unwrap(),
            [0.125; 32]
        );

        // Forced, it is an error rather than a wrong result.
        let gpu = device.gpu().unwrap();
        assert!(matches!(
            decide(gpu, &Policy::force(Variant::Subgroup)),
            Err(Error::Unavailable { .. })
        ));
    }
}

#[test]
fn policies_force_forbid_and_require() {
    for gpu in with_subgroups() {
        let forced = decide(&gpu, &Policy::force(Variant::Portable)).unwrap();
        assert_eq!(forced.variant, Variant::Portable);
        assert!(forced.to_string().contains("the policy forces `portable`"));

        let forbid = |variants: &[Variant]| Policy {
            forbidden: variants.to_vec(),
            ..Policy::default()
        };
        assert_eq!(
            decide(&gpu, &forbid(&[Variant::Subgroup])).unwrap().variant,
            Variant::Portable
        );
        let both = [Variant::Subgroup, Variant::Portable];
        assert_eq!(decide(&gpu, &forbid(&both)).unwrap().variant, Variant::Cpu);
        let required = Policy {
            require_gpu: true,
            ..forbid(&both)
        };
        let error = decide(&gpu, &required).unwrap_err();
        assert!(error.to_string().contains("requires a GPU"), "{error}");
    }
}

#[test]
fn without_the_feature_the_portable_variant_says_why() {
    for gpu in common::gpus() {
        let plain = gpu.with_capabilities(|c| c.subgroups = None);
        let decision = decide(&plain, &Policy::default()).unwrap();
        assert_eq!(decision.variant, Variant::Portable);
        assert!(
            decision.to_string().contains("no subgroup operations"),
            "{decision}"
        );
    }
}

#[test]
fn where_no_variant_fits_the_cpu_runs_and_says_why() {
    for gpu in common::gpus() {
        let tiny = gpu.with_capabilities(|c| c.limits.max_compute_invocations_per_workgroup = 32);
        let device = Device::from_gpu(tiny, Policy::default());
        let x = Tensor::from_slice(&device, &[0.0f32; 32], &[4, 8]).unwrap();
        let outputs = ops::call("softmax", &[Some(&x)], &Params::new()).unwrap();
        assert_eq!(outputs.decision().variant, Variant::Cpu);
        assert!(
            outputs
                .decision()
                .to_string()
                .contains("invocations in a workgroup")
        );
        assert_eq!(
            outputs.get("y").unwrap().to_vec_blocking::<f32>().unwrap(),
            [0.125; 32]
        );
    }
}

#[test]
fn an_adapter_that_is_not_there_is_an_error() {
    let named = Selector::Name("no such adapter".into());
    let error = pollster::block_on(Device::with(&named, Policy::default())).unwrap_err();
    assert!(error.to_string().contains("no such adapter"), "{error}");
    let cpu = pollster::block_on(Device::with(&Selector::Cpu, Policy::default())).unwrap();
    assert!(cpu.gpu().is_none());
    let required = Policy {
        require_gpu: true,
        ..Policy::default()
    };
    assert!(pollster::block_on(Device::with(&Selector::Cpu, required)).is_err());
}

#[test]
fn inputs_on_two_devices_are_refused() {
    let Some(gpu) = common::gpus().first() else {
        return;
    };
    let a = Tensor::from_slice(&Device::cpu(), &[1.0f32], &[1]).unwrap();
    let b = Tensor::from_slice(
        &Device::from_gpu(gpu.clone(), Policy::default()),
        &[1.0f32],
        &[1],
    )
    .unwrap();
    let error = ops::call("add", &[Some(&a), Some(&b)], &Params::new()).unwrap_err();
    assert!(error.to_string().contains("different devices"), "{error}");
}

#[test]
fn a_steady_loop_allocates_nothing() {
    for gpu in common::gpus() {
        let device = Device::from_gpu(gpu.with_capabilities(|_| ()), Policy::default());
        let step = || {
            let x = Tensor::from_slice(&device, &[0.5f32; 64], &[8, 8]).unwrap();
            ops::softmax(&x, 1)
                .unwrap()
                .to_vec_blocking::<f32>()
                .unwrap()
        };
        step();
        step();
        let before = device.gpu().unwrap().pool_statistics().created;
        (0..10).for_each(|_| assert_eq!(step(), [0.125; 64]));
        assert_eq!(device.gpu().unwrap().pool_statistics().created, before);
    }
}

#[test]
fn threads_share_one_device() {
    for gpu in common::gpus() {
        let device = Device::from_gpu(gpu.clone(), Policy::default());
        std::thread::scope(|scope| {
            for n in 1..=4usize {
                let device = &device;
                scope.spawn(move || {
                    for _ in 0..5 {
                        let x =
                            Tensor::from_slice(device, &vec![3.0f32; n * 16], &[n, 16]).unwrap();
                        let y = ops::softmax(&x, -1)
                            .unwrap()
                            .to_vec_blocking::<f32>()
                            .unwrap();
                        assert_eq!(y, vec![0.0625; n * 16]);
                    }
                });
            }
        });
    }
}

#[test]
fn a_lost_device_is_a_typed_error() {
    for entry in pollster::block_on(portcullis::device::enumerate()) {
        let gpu = pollster::block_on(Gpu::from_adapter(&entry.adapter)).unwrap();
        let device = Device::from_gpu(gpu, Policy::default());
        let x = Tensor::from_slice(&device, &[0.0f32; 32], &[4, 8]).unwrap();
        let y = ops::softmax(&x, -1).unwrap();
        let gpu = device.gpu().unwrap();
        gpu.device().destroy();
        let _ = gpu.device().poll(portcullis::wgpu::PollType::Poll);
        let error = y.to_vec_blocking::<f32>().unwrap_err();
        assert!(matches!(error, Error::DeviceLost(_)), "{error:?}");
        let again = ops::softmax(&x, -1).and_then(|y| y.to_vec_blocking::<f32>());
        assert!(matches!(again, Err(Error::DeviceLost(_))), "{again:?}");
    }
}

/// Loops over registers stay loops on adapters that are a CPU. Here they are written out
/// all the same, as for GPUs, and compute what the oracle says.
#[test]
fn loops_that_are_written_out_compute_the_same() {
    for gpu in common::gpus() {
        let gpu = gpu.with_capabilities(|c| c.identity.kind = "other".into());
        for name in [
            "softmax",
            "softmax_backward",
            "inclusive_scan_sum",
            "sort_pairs",
            "select",
        ] {
            let op = registry::find(name).unwrap();
            let problem = op.problems(DType::F32, gate::Effort::Quick).swap_remove(0);
            let instance = problem.build(op, DType::F32).unwrap();
            for variant in [Variant::Portable, Variant::Subgroup] {
                let Ok(plan) = gpu.plan(&instance.call, variant) else {
                    continue;
                };
                let unrolled = |step: &portcullis::plan::Step| {
                    step.kernel.unrolled
                        && step
                            .kernel
                            .link(false)
                            .unwrap()
                            .text
                            .contains("const k = 1u")
                };
                assert!(plan.steps.iter().any(unrolled), "{name} {variant}");
                let row = pollster::block_on(gate::check_on_gpu(&gpu, &instance, variant)).unwrap();
                assert!(row.passed(), "{name} {variant}: {}", row.note);
            }
        }
    }
}
