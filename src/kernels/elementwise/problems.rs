//! Problems that elementwise operations share.

use crate::dtype::DType;
use crate::gate::{Effort, Fill, Problem};
use crate::spec::TensorSpec;

/// Numbers of a row's domain: log-uniform where it spans many powers of ten.
pub(super) fn domain((low, high): (f64, f64)) -> Fill {
    if low > 0.0 && high / low > 1e6 {
        // Both signs would leave the domain: positive powers by their logarithm.
        let steps = 1009;
        let at = |i: usize| (low.ln() + (high / low).ln() * i as f64 / steps as f64).exp();
        return Fill::Cycle((0..=steps).map(|i| at(i * 379 % (steps + 1))).collect());
    }
    Fill::Uniform { low, high }
}

/// Numbers at which something changes, as f32 bits: zeros, subnormals,
/// infinities, NaNs of every kind, powers of two, and where functions of the
/// family change their formula or overflow.
fn special_f32() -> Vec<f32> {
    let mut values = vec![
        0.0,
        f32::from_bits(1),
        f32::MIN_POSITIVE / 2.0,
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::INFINITY,
        f32::NAN,
        f32::from_bits(0x7f80_0001), // signalling
        f32::from_bits(0x7fff_ffff),
    ];
    let changes = [
        0.5,
        1.0,
        1.5,
        2.0,
        2.5,
        3.0,
        4.0,
        5.0,
        10.0,
        11.1,
        13.24,
        15.0,
        16.0,
        20.0,
        40.0,
        87.3,
        87.34,
        88.72,
        88.73,
        100.0,
        103.98,
        126.0,
        128.0,
        149.5,
        1000.0,
        3214.9,
        65504.0,
        65520.0,
        8388607.5,
        8388609.0,
        16777217.0,
        2147483648.0,
        4294967296.0,
        1e30,
        0.34657,
        0.625,
        0.92773,
        0.41421,
        0.29289,
        std::f32::consts::FRAC_PI_2,
        std::f32::consts::PI,
    ];
    for x in changes {
        values.extend([f32::next_down(x), x, f32::next_up(x)]);
    }
    values.extend((-149..128).step_by(4).map(|e| 2f64.powi(e) as f32));
    let negative: Vec<f32> = values.iter().map(|x| -x).collect();
    values.extend(negative);
    values
}

/// Special numbers of a dtype by their bits.
pub(super) fn specials(dtype: DType) -> Vec<u32> {
    let floats = special_f32().into_iter();
    match dtype {
        DType::F32 => floats.map(f32::to_bits).collect(),
        DType::F16 => floats
            .map(|x| half::f16::from_f32(x).to_bits() as u32)
            .collect(),
        DType::BF16 => floats
            .map(|x| half::bf16::from_f32(x).to_bits() as u32)
            .collect(),
        DType::I32 | DType::U32 => {
            let powers = (0..32).flat_map(|k| [1u32 << k, (1 << k) - 1, (1 << k) + 1]);
            powers
                .flat_map(|k| [k, k.wrapping_neg()])
                .chain([0])
                .collect()
        }
    }
}

/// Every number of a 16-bit dtype, or 65,536 bit patterns of a 32-bit one.
pub(super) fn bit_patterns(dtype: DType) -> Vec<u32> {
    match dtype.size() {
        2 => (0..=u16::MAX as u32).collect(),
        _ => (0..=u16::MAX as u32)
            .map(|i| i.wrapping_mul(65_539))
            .collect(),
    }
}

/// Whether the quick gate of row `index` goes through this dtype: through the
/// first always, through others where nearly nothing but the dtype differs.
pub(super) fn quick(first: DType, index: usize, dtype: DType) -> bool {
    dtype == first
        || match dtype {
            DType::F32 => false,
            DType::F16 => index.is_multiple_of(8),
            DType::BF16 => index % 8 == 4,
            DType::I32 => true,
            DType::U32 => index % 4 == 1,
        }
}

/// One problem for functions of one operand, more where `effort` asks.
pub(super) fn unary(
    name: &str,
    index: usize,
    dtype: DType,
    effort: Effort,
    domain: Fill,
) -> Vec<Problem> {
    let first = if name == "bit_not" {
        DType::I32
    } else {
        DType::F32
    };
    let vector = |n: usize| Problem::new(n.to_string()).input(dtype, [n], domain.clone());
    match effort {
        Effort::Probe => return vec![vector(7)],
        Effort::Quick if quick(first, index, dtype) => return vec![vector(301)],
        Effort::Quick => return Vec::new(),
        Effort::Standard | Effort::Full => {}
    }
    let special = specials(dtype);
    let patterns = bit_patterns(dtype);
    let mut problems = vec![
        vector(4099),
        Problem::new("special values")
            .input(dtype, [special.len()], Fill::CycleBits(special))
            .zeros_expected(),
        Problem::new(if dtype.size() == 2 {
            "every number"
        } else {
            "bit patterns"
        })
        .input(dtype, [patterns.len()], Fill::CycleBits(patterns))
        .zeros_expected(),
    ];
    for (name, value, other, more) in other_parameters(name, dtype) {
        problems.push(vector(1001).param(name, value).param(other, more));
        if let Some(last) = problems.last_mut() {
            last.name = format!("1001 {name}={value} {other}={more}");
        }
    }
    // Layouts are the same for every function: one goes through them all.
    if name == "neg" || effort == Effort::Full {
        problems.extend(unary_layouts(dtype, &domain));
    }
    if effort == Effort::Full {
        problems.push(vector(1_000_003));
    }
    problems
}

/// Values of parameters that have caught faults.
fn other_parameters(name: &str, dtype: DType) -> Vec<(&'static str, f64, &'static str, f64)> {
    match name {
        "softplus" => vec![
            ("beta", 5.0, "threshold", 20.0),
            ("beta", 0.3, "threshold", 20.0),
            ("beta", 1.0, "threshold", 1e4),
        ],
        "elu" => vec![("alpha", 0.7, "alpha", 0.7)],
        "clamp" if dtype == DType::U32 => vec![("low", 5.0, "high", 3e9)],
        "clamp" => vec![("low", -1.25, "high", 6.1), ("low", 3.0, "high", -3.0)],
        _ => vec![],
    }
}

fn unary_layouts(dtype: DType, fill: &Fill) -> Vec<Problem> {
    let view = |name: &str, shape: &[usize], strides: &[isize]| {
        let spec = TensorSpec::new(dtype, shape).strided(strides);
        Problem::new(name).view(spec, fill.clone(), 0)
    };
    let dense =
        |shape: &[usize]| Problem::new(format!("{shape:?}")).input(dtype, shape, fill.clone());
    vec![
        dense(&[]),
        dense(&[1]),
        dense(&[2]),
        dense(&[3]),
        dense(&[4]),
        dense(&[5, 1, 3]),
        dense(&[0, 7]),
        // One workgroup of quads ± 1.
        dense(&[1023]),
        dense(&[1025]),
        // More workgroups than one dimension holds where limits are lowered.
        dense(&[70_000]),
        view("every third", &[333], &[3]),
        view("backwards", &[301], &[-1]),
        view("transposed", &[33, 20], &[1, 33]),
        view("rows apart", &[17, 12], &[16, 1]),
        view("rows apart, odd", &[17, 11], &[13, 1]),
        view("one number repeated", &[9, 31], &[0, 0]).zeros_expected(),
        view("row repeated", &[9, 32], &[0, 1]),
        view("column repeated", &[9, 32], &[1, 0]),
        view("column repeated, odd", &[9, 3], &[1, 0]),
        view("both ways", &[5, 7, 3], &[-21, 3, -1]),
        view("eight axes", &[2; 8], &[1, 2, 4, 8, 16, 32, 64, 128]),
        Problem::new("unaligned")
            .view(TensorSpec::new(dtype, [9, 31]).unaligned(), fill.clone(), 5)
            .unaligned_outputs(),
        Problem::new("one buffer")
            .input(dtype, [5, 13], fill.clone())
            .shared_buffers(),
        Problem::new("one buffer, unaligned")
            .view(TensorSpec::new(dtype, [257]).unaligned(), fill.clone(), 1)
            .unaligned_outputs()
            .shared_buffers(),
    ]
}

/// One problem for functions of two operands, more where `effort` asks.
pub(super) fn binary(
    name: &str,
    index: usize,
    dtype: DType,
    effort: Effort,
    [a, b]: [Fill; 2],
) -> Vec<Problem> {
    let first = match name.starts_with("bit_") || name.starts_with("shift_") {
        true => DType::I32,
        false => DType::F32,
    };
    let pair = |shape_a: &[usize], shape_b: &[usize]| {
        Problem::new(format!("{shape_a:?} {shape_b:?}"))
            .input(dtype, shape_a, a.clone())
            .input(dtype, shape_b, b.clone())
    };
    match effort {
        Effort::Probe => return vec![pair(&[7], &[7])],
        Effort::Quick if !quick(first, index, dtype) => return Vec::new(),
        // Rows of odd lengths are located by strides, others read by quads.
        Effort::Quick => {
            return vec![match index % 3 {
                0 => pair(&[301], &[301]),
                1 => pair(&[7, 43], &[43]),
                _ => pair(&[8, 40], &[8, 1]),
            }];
        }
        Effort::Standard | Effort::Full => {}
    }
    let bits = specials(dtype);
    // Each special number with each of some.
    let count = bits.len();
    let others: Vec<u32> = bits.iter().copied().step_by(7).collect();
    let patterns = bit_patterns(dtype);
    let shuffled: Vec<u32> = (0..patterns.len())
        .map(|i| patterns[i * 40_503 % patterns.len()])
        .collect();
    let mut problems = vec![
        pair(&[4099], &[4099]),
        pair(&[37, 31], &[31]),
        pair(&[36, 1], &[32]),
        Problem::new("special values")
            .input(dtype, [others.len(), 1], Fill::CycleBits(others.clone()))
            .input(dtype, [count], Fill::CycleBits(bits.clone()))
            .zeros_expected(),
        Problem::new("special values, exchanged")
            .input(dtype, [count, 1], Fill::CycleBits(bits))
            .input(dtype, [others.len()], Fill::CycleBits(others))
            .zeros_expected(),
        Problem::new("bit patterns")
            .input(dtype, [patterns.len()], Fill::CycleBits(patterns))
            .input(dtype, [shuffled.len()], Fill::CycleBits(shuffled))
            .zeros_expected(),
        Problem::new("small integers")
            .input(dtype, [1001], Fill::Integers { low: -8, high: 8 })
            .input(dtype, [1001], Fill::Integers { low: -3, high: 3 })
            .zeros_expected(),
    ];
    if name == "sub" || effort == Effort::Full {
        problems.extend(binary_layouts(dtype, &a, &b));
    }
    if effort == Effort::Full {
        problems.push(pair(&[1009, 1024], &[1024]));
    }
    problems
}

fn binary_layouts(dtype: DType, a: &Fill, b: &Fill) -> Vec<Problem> {
    let dense = |shape: &[usize]| TensorSpec::new(dtype, shape);
    let view = |shape: &[usize], strides: &[isize]| TensorSpec::new(dtype, shape).strided(strides);
    let pair = |name: &str, first: TensorSpec, second: TensorSpec| {
        let offset = |spec: &TensorSpec| match spec.alignment {
            crate::spec::Alignment::Element => 3,
            crate::spec::Alignment::Binding => 0,
        };
        let offsets = (offset(&first), offset(&second));
        Problem::new(name)
            .view(first, a.clone(), offsets.0)
            .view(second, b.clone(), offsets.1)
    };
    vec![
        pair("scalars", dense(&[]), dense(&[])),
        pair("scalar on the left", dense(&[]), dense(&[7, 5])),
        pair("scalar on the right", dense(&[301]), dense(&[1])),
        pair("unaligned scalar", dense(&[301]), dense(&[1]).unaligned()),
        pair("row", dense(&[9, 32]), dense(&[32])),
        pair("row, odd", dense(&[9, 31]), dense(&[1, 31])),
        pair("row of three", dense(&[101, 3]), dense(&[3])),
        pair("column", dense(&[9, 32]), dense(&[9, 1])),
        pair("column, odd", dense(&[9, 31]), dense(&[9, 1])),
        pair("outer", dense(&[13, 1]), dense(&[1, 24])),
        pair("middle", dense(&[4, 5, 8]), dense(&[5, 1])),
        pair(
            "alternate",
            dense(&[3, 1, 5, 1, 4]),
            dense(&[1, 2, 1, 6, 1]),
        ),
        pair("alternate, odd", dense(&[3, 1, 5, 1]), dense(&[2, 1, 7])),
        pair("no rows", dense(&[0, 4]), dense(&[4])),
        pair("no columns", dense(&[4, 0]), dense(&[1, 1])),
        pair("transposed", dense(&[20, 33]), view(&[20, 33], &[1, 20])),
        pair("backwards", dense(&[301]), view(&[301], &[-1])),
        pair("both strided", view(&[65], &[2]), view(&[65], &[-3])),
        pair("row backwards", dense(&[5, 12]), view(&[12], &[-1])),
        pair("unaligned", dense(&[7, 12]).unaligned(), dense(&[7, 12])).unaligned_outputs(),
        pair("unaligned row", dense(&[7, 12]), dense(&[12]).unaligned()),
        pair("one buffer", dense(&[7, 13]), dense(&[13])).shared_buffers(),
        pair(
            "seven axes",
            dense(&[2, 1, 2, 1, 2, 1, 2]),
            dense(&[1, 3, 1, 3, 1, 3, 1]),
        ),
    ]
}
