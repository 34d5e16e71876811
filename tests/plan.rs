//! The plan layer on a caller's own device, buffers, encoder and pass.

mod common;

use portcullis::gate::{Instance, Status};
use portcullis::{
    BufferView, Call, DType, Error, Gpu, HostTensor, Params, TensorSpec, Variant,
    device_requirements, gate, registry, wgpu,
};
use wgpu::util::DeviceExt as _;

const USAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::COPY_SRC)
    .union(wgpu::BufferUsages::COPY_DST);

fn buffer(gpu: &Gpu, data: &[f32]) -> wgpu::Buffer {
    gpu.device()
        .create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents: bytemuck::cast_slice(data),
            usage: USAGE,
        })
}

fn read(gpu: &Gpu, buffer: &wgpu::Buffer) -> Vec<f32> {
    let bytes = pollster::block_on(gpu.read(buffer, 0, buffer.size())).unwrap();
    bytemuck::pod_collect_to_vec(&bytes)
}

fn softmax_call(specs: TensorSpec) -> Call {
    Call::new(
        registry::find("softmax").unwrap(),
        vec![Some(specs)],
        &Params::new(),
    )
    .unwrap()
}

/// exp(x) / Σ exp(x), from the definition.
fn softmax(x: &[f32]) -> Vec<f32> {
    let sum: f64 = x.iter().map(|&v| (v as f64).exp()).sum();
    x.iter().map(|&v| ((v as f64).exp() / sum) as f32).collect()
}

fn close(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-6)
}

#[test]
fn a_plan_records_into_the_callers_encoder_and_pass() {
    for gpu in common::gpus() {
        let plan = gpu
            .plan(
                &softmax_call(TensorSpec::new(DType::F32, [2, 4])),
                Variant::Portable,
            )
            .unwrap();
        let prepared = gpu.prepare_plan(plan).unwrap();
        let x = [0.0, 1.0, 2.0, 3.0, -1.0, 0.5, 0.25, 0.0];
        let (input, output) = (buffer(gpu, &x), buffer(gpu, &[7.0; 8]));
        let scratch = gpu.scratch_for(prepared.plan()).unwrap();
        let bound = prepared
            .bind(
                &[Some(BufferView::new(&input))],
                &[BufferView::new(&output)],
                &scratch,
            )
            .unwrap();
        let mut expected = softmax(&x[..4]);
        expected.extend(softmax(&x[4..]));

        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        bound.record(&mut encoder);
        assert_eq!(
            read(gpu, &output),
            [7.0; 8],
            "nothing runs before the caller submits"
        );
        gpu.queue().submit([encoder.finish()]);
        assert!(close(&read(gpu, &output), &expected));

        // Twice in one pass of the caller's, and the encoder before it dropped unsubmitted.
        let mut dropped = gpu.device().create_command_encoder(&Default::default());
        bound.record(&mut dropped);
        drop(dropped);
        gpu.queue()
            .write_buffer(&output, 0, bytemuck::cast_slice(&[7.0f32; 8]));
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            bound.record_in_pass(&mut pass);
            bound.record_in_pass(&mut pass);
        }
        gpu.queue().submit([encoder.finish()]);
        assert!(close(&read(gpu, &output), &expected));
    }
}

#[test]
fn a_device_of_the_callers_serves() {
    for entry in pollster::block_on(portcullis::device::enumerate()) {
        let (features, limits) = device_requirements(&entry.adapter);
        let descriptor = wgpu::DeviceDescriptor {
            required_features: features,
            required_limits: limits,
            ..Default::default()
        };
        let (device, queue) =
            pollster::block_on(entry.adapter.request_device(&descriptor)).unwrap();
        let gpu = Gpu::from_device(device, queue);
        let device = portcullis::Device::from_gpu(gpu, Default::default());
        let x = portcullis::Tensor::from_slice(&device, &[1.0f32, 1.0, 1.0], &[3]).unwrap();
        let y = portcullis::ops::softmax(&x, 0)
            .unwrap()
            .to_vec_blocking::<f32>()
            .unwrap();
        assert!(close(&y, &[1.0 / 3.0; 3]));
    }
}

#[test]
fn a_device_with_default_limits_serves() {
    for entry in pollster::block_on(portcullis::device::enumerate()) {
        let descriptor = wgpu::DeviceDescriptor::default();
        let (device, queue) =
            pollster::block_on(entry.adapter.request_device(&descriptor)).unwrap();
        let gpu = Gpu::from_device(device, queue);
        assert_eq!(
            gpu.capabilities().subgroups,
            None,
            "the feature was not asked for"
        );
        let items = gate::Selection::all(gate::Effort::Quick).items().unwrap();
        for item in items
            .into_iter()
            .filter(|item| item.operation.signature().family == "softmax")
        {
            let row = pollster::block_on(gate::check_on_gpu(
                &gpu,
                &item.build().unwrap(),
                Variant::Portable,
            ));
            let row = row.unwrap();
            assert_eq!(row.status, Status::Pass, "{}: {}", row.op, row.note);
        }
    }
}

#[test]
fn sub_ranges_of_one_buffer() {
    for gpu in common::gpus() {
        // Four floats to the left, input of 6, a gap of 3, output of 6, the rest.
        let call = softmax_call(TensorSpec::new(DType::F32, [2, 3]).unaligned())
            .with_unaligned_outputs()
            .with_shared_buffers();
        let prepared = gpu
            .prepare_plan(gpu.plan(&call, Variant::Portable).unwrap())
            .unwrap();
        let mut image: Vec<f32> = (0..32).map(|i| i as f32 / 8.0).collect();
        let shared = buffer(gpu, &image);
        let scratch = gpu.scratch_for(prepared.plan()).unwrap();
        let bound = prepared
            .bind(
                &[Some(BufferView::at(&shared, 16))],
                &[BufferView::at(&shared, 13 * 4)],
                &scratch,
            )
            .unwrap();
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        bound.record(&mut encoder);
        gpu.queue().submit([encoder.finish()]);
        let (first, second) = (softmax(&image[4..7]), softmax(&image[7..10]));
        image[13..16].copy_from_slice(&first);
        image[16..19].copy_from_slice(&second);
        assert!(
            close(&read(gpu, &shared), &image),
            "only the output's own elements change"
        );
    }
}

#[test]
fn buffers_that_do_not_fit_are_refused() {
    let Some(gpu) = common::gpus().first() else {
        return;
    };
    let prepared = |call: &Call| {
        gpu.prepare_plan(gpu.plan(call, Variant::Portable).unwrap())
            .unwrap()
    };
    let call = softmax_call(TensorSpec::new(DType::F32, [2, 4]));
    let aligned = prepared(&call);
    let (x, y) = (buffer(gpu, &[0.0; 128]), buffer(gpu, &[0.0; 128]));
    let bind = |input: BufferView, output: BufferView| match aligned.bind(
        &[Some(input)],
        &[output],
        &[],
    ) {
        Ok(_) => panic!("it was accepted"),
        Err(error) => error.to_string(),
    };
    let whole = BufferView::new;

    let small = buffer(gpu, &[0.0; 7]);
    assert!(bind(whole(&small), whole(&y)).contains("needs the bytes 0..32"));
    assert!(bind(BufferView::at(&x, 4), whole(&y)).contains("TensorSpec::unaligned"));
    assert!(bind(BufferView::at(&x, 2), whole(&y)).contains("not at a multiple of 4"));
    assert!(bind(whole(&x), whole(&x)).contains("overlaps output `y`"));
    assert!(bind(whole(&x), BufferView::at(&x, 256)).contains("with_shared_buffers"));
    let no_storage = gpu.device().create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 64,
        usage: wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    assert!(bind(whole(&no_storage), whole(&y)).contains("STORAGE"));
    assert!(matches!(
        aligned.bind(&[], &[whole(&y)], &[]),
        Err(Error::Inputs { .. })
    ));
    assert!(matches!(
        aligned.bind(&[Some(whole(&x))], &[], &[]),
        Err(Error::Inputs { .. })
    ));
    assert!(matches!(
        aligned.bind(&[None], &[whole(&y)], &[]),
        Err(Error::Buffer { .. })
    ));

    let shared = prepared(&call.clone().with_shared_buffers());
    let overlapping = shared.bind(&[Some(whole(&x))], &[BufferView::at(&x, 0)], &[]);
    assert!(matches!(overlapping, Err(Error::Buffer { .. })));

    // A plan with scratch: it must be there, large enough, and apart.
    let unaligned = prepared(&softmax_call(
        TensorSpec::new(DType::F32, [2, 4]).unaligned(),
    ));
    assert!(unaligned.plan().scratch_bytes() > 0);
    let input = || [Some(BufferView::at(&x, 4))];
    assert!(matches!(
        unaligned.bind(&input(), &[whole(&y)], &[]),
        Err(Error::Inputs { .. })
    ));
    let tiny = buffer(gpu, &[0.0; 4]);
    assert!(matches!(
        unaligned.bind(&input(), &[whole(&y)], &[whole(&tiny)]),
        Err(Error::Buffer { .. })
    ));
    assert!(matches!(
        unaligned.bind(&input(), &[whole(&y)], &[whole(&y)]),
        Err(Error::Buffer { .. })
    ));
    assert!(matches!(
        unaligned.bind(&input(), &[whole(&y)], &[whole(&x)]),
        Err(Error::Buffer { .. })
    ));
}

#[test]
fn a_buffer_of_another_device_is_a_typed_error() {
    let Some(entry) = pollster::block_on(portcullis::device::enumerate())
        .into_iter()
        .next()
    else {
        return;
    };
    let [here, there] =
        [(); 2].map(|()| pollster::block_on(Gpu::from_adapter(&entry.adapter)).unwrap());
    let call = softmax_call(TensorSpec::new(DType::F32, [2, 4]));
    let prepared = here
        .prepare_plan(here.plan(&call, Variant::Portable).unwrap())
        .unwrap();
    let (foreign, own) = (buffer(&there, &[0.0; 8]), buffer(&here, &[0.0; 8]));
    let bound = prepared.bind(
        &[Some(BufferView::new(&foreign))],
        &[BufferView::new(&own)],
        &[],
    );
    assert!(matches!(bound, Err(Error::Device { .. })));
}

#[test]
fn lowered_limits_fold_the_grid() {
    for gpu in common::gpus() {
        let small = gpu.with_capabilities(|c| c.limits.max_compute_workgroups_per_dimension = 7);
        let x: Vec<f32> = (0..45 * 3).map(|i| (i % 11) as f32 - 5.0).collect();
        let x = HostTensor::new(&[45, 3], x).unwrap();
        let op = registry::find("softmax").unwrap();
        let instance = Instance::from_tensors("folded", op, &[Some(x)], &Params::new()).unwrap();
        let plan = small.plan(&instance.call, Variant::Portable).unwrap();
        assert_eq!(
            plan.steps.last().unwrap().workgroups,
            [7, 7, 1],
            "45 workgroups in rows of 7"
        );
        let row =
            pollster::block_on(gate::check_on_gpu(&small, &instance, Variant::Portable)).unwrap();
        assert_eq!(row.status, Status::Pass, "{}", row.note);
        let most = Instance::from_tensors(
            "too many",
            op,
            &[Some(HostTensor::zeros(DType::F32, &[50, 3]))],
            &Params::new(),
        );
        let error = small
            .plan(&most.unwrap().call, Variant::Portable)
            .unwrap_err();
        assert!(
            matches!(
                error,
                Error::Limit {
                    asked: 50,
                    limit: 49,
                    ..
                }
            ),
            "{error}"
        );
    }
}

#[test]
fn lowered_bindings_are_a_typed_error() {
    let Some(gpu) = common::gpus().first() else {
        return;
    };
    let small = gpu.with_capabilities(|c| c.limits.max_storage_buffer_binding_size = 64 << 10);
    let call = softmax_call(TensorSpec::new(DType::F32, [129, 128]));
    let error = small.plan(&call, Variant::Portable).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Limit {
                asked: 66048,
                limit: 65536,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn plans_bound_and_prepared_cross_threads() {
    fn crosses<T: Send + Sync>() {}
    crosses::<Gpu>();
    crosses::<portcullis::plan::Plan>();
    crosses::<portcullis::plan::Prepared>();
    crosses::<portcullis::plan::Bound>();
    crosses::<portcullis::Tensor>();
    crosses::<portcullis::Device>();
}
