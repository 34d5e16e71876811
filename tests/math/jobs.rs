//! One job for each function: its WGSL, its inputs, and a judge of its results.

use portcullis::cpu::math::integer;
use portcullis::gate::oracle::bounds::{ratio, seen};
use portcullis::kernels::math_table::{
    BINARY, BinaryMath, INTEGER_BINARY, INTEGER_UNARY, IntegerBinary, IntegerUnary, UNARY,
    UnaryMath,
};

use crate::inputs;

/// Error over allowance of a result, by the three input words.
type Judge = Box<dyn Fn([u32; 3], u32) -> f64 + Send + Sync>;

pub struct Job {
    pub name: String,
    /// A `u32` in terms of `a`, `b` and `c`, the input words.
    pub expression: String,
    pub inputs: Vec<[u32; 3]>,
    pub judge: Judge,
}

/// How many inputs of each sort.
#[derive(Clone, Copy)]
pub struct Effort {
    pub draws: usize,
    pub stride: usize,
    pub pairs: usize,
}

/// Parameter sets to try: the defaults, and others that have caught faults.
pub fn parameters(op: &UnaryMath) -> Vec<[f32; 2]> {
    let default = |i: usize| op.params.get(i).map_or(0.0, |(_, value)| *value as f32);
    let mut sets = vec![[default(0), default(1)]];
    match op.name {
        "softplus" => sets.extend([[5.0, 20.0], [0.3, 20.0], [1.0, 1e4]]),
        "elu" => sets.push([0.7, 0.0]),
        "clamp" => sets.push([-1.25, 6.0]),
        _ => {}
    }
    sets
}

/// The best ratio over what the device may have seen.
pub fn judge_unary(op: &UnaryMath, p: [f32; 2], x: f32, got: f32) -> f64 {
    let wide = p.map(f64::from);
    seen(x)
        .map(|x| {
            let exact = (op.oracle)(x.into(), wide);
            ratio(got, exact, (op.bound)(x.into(), exact, wide))
        })
        .fold(f64::INFINITY, f64::min)
}

pub fn judge_unary_derivative(op: &UnaryMath, p: [f32; 2], x: f32, y: f32, got: f32) -> f64 {
    let wide = p.map(f64::from);
    let derivative = &op.derivative;
    seen(x)
        .flat_map(|x| seen(y).map(move |y| (f64::from(x), f64::from(y))))
        .map(|(x, y)| {
            let exact = (derivative.oracle)(x, y, wide);
            ratio(got, exact, (derivative.bound)(x, exact, wide))
        })
        .fold(f64::INFINITY, f64::min)
}

pub fn judge_binary(op: &BinaryMath, a: f32, b: f32, got: f32) -> f64 {
    seen(a)
        .flat_map(|a| seen(b).map(move |b| (f64::from(a), f64::from(b))))
        .map(|(a, b)| {
            let exact = (op.oracle)(a, b);
            ratio(got, exact, (op.bound)(a, b, exact))
        })
        .fold(f64::INFINITY, f64::min)
}

type Of3 = fn(f64, f64, f64) -> f64;

pub fn judge_binary_derivative(oracle: Of3, bound: Of3, [a, b, y]: [f32; 3], got: f32) -> f64 {
    seen(a)
        .flat_map(|a| seen(b).flat_map(move |b| seen(y).map(move |y| [a, b, y].map(f64::from))))
        .map(|[a, b, y]| {
            let exact = oracle(a, b, y);
            ratio(got, exact, bound(a, b, exact))
        })
        .fold(f64::INFINITY, f64::min)
}

/// The output as the kernel before would have stored it.
pub fn output(exact: f64) -> f32 {
    exact as f32
}

fn equal(expected: impl Fn([u32; 3]) -> u32 + Send + Sync + 'static) -> Judge {
    Box::new(move |input, got| {
        if got == expected(input) {
            0.0
        } else {
            f64::INFINITY
        }
    })
}

fn float_jobs(effort: Effort, jobs: &mut Vec<Job>) {
    for op in UNARY {
        for (set, p) in parameters(op).into_iter().enumerate() {
            let values = p[..op.params.len()].iter();
            let arguments: String = values.map(|value| format!(", {value:?}")).collect();
            let suffix = if set == 0 { "" } else { &arguments };
            let x = inputs::unary(op.domain, effort.draws, effort.stride);
            let wide = p.map(f64::from);
            let with_output = |x: &f32| {
                let y = output((op.oracle)((*x).into(), wide));
                [x.to_bits(), y.to_bits(), 0]
            };
            jobs.push(Job {
                name: format!("{}{suffix}", op.name),
                expression: format!("bitcast<u32>(f_{}(bitcast<f32>(a){arguments}))", op.name),
                inputs: x.iter().map(|x| [x.to_bits(), 0, 0]).collect(),
                judge: Box::new(move |[x, ..], got| {
                    judge_unary(op, p, f32::from_bits(x), f32::from_bits(got))
                }),
            });
            jobs.push(Job {
                name: format!("{}'{suffix}", op.name),
                expression: format!(
                    "bitcast<u32>(f_{}_derivative(bitcast<f32>(a), bitcast<f32>(b){arguments}))",
                    op.name
                ),
                inputs: x.iter().map(with_output).collect(),
                judge: Box::new(move |[x, y, _], got| {
                    let [x, y, got] = [x, y, got].map(f32::from_bits);
                    judge_unary_derivative(op, p, x, y, got)
                }),
            });
        }
    }
    for op in BINARY {
        let pairs = inputs::binary(op.domain, effort.pairs);
        let with_output = |&(a, b): &(f32, f32)| {
            let y = output((op.oracle)(a.into(), b.into()));
            [a.to_bits(), b.to_bits(), y.to_bits()]
        };
        let inputs: Vec<[u32; 3]> = pairs.iter().map(with_output).collect();
        let call = format!("f_{}(bitcast<f32>(a), bitcast<f32>(b))", op.name);
        let call = if op.comparison {
            format!("f32({call})")
        } else {
            call
        };
        jobs.push(Job {
            name: op.name.into(),
            expression: format!("bitcast<u32>({call})"),
            inputs: inputs.clone(),
            judge: Box::new(move |[a, b, _], got| {
                let [a, b, got] = [a, b, got].map(f32::from_bits);
                judge_binary(op, a, b, got)
            }),
        });
        let Some(derivative) = &op.derivative else {
            continue;
        };
        for (side, part) in [("a", &derivative.a), ("b", &derivative.b)] {
            jobs.push(Job {
                name: format!("{}'{side}", op.name),
                expression: format!(
                    "bitcast<u32>(f_{}_derivative_{side}(bitcast<f32>(a), bitcast<f32>(b), bitcast<f32>(c)))",
                    op.name
                ),
                inputs: inputs.clone(),
                judge: Box::new(move |words, got| {
                    let got = f32::from_bits(got);
                    judge_binary_derivative(part.oracle, part.bound, words.map(f32::from_bits), got)
                }),
            });
        }
    }
}

fn integer_jobs(jobs: &mut Vec<Job>) {
    let pairs: Vec<[u32; 3]> = inputs::integers()
        .into_iter()
        .map(|(a, b)| [a, b, 0])
        .collect();
    let mut push = |name: String, expression: String, judge: Judge| {
        jobs.push(Job {
            name,
            expression,
            inputs: pairs.clone(),
            judge,
        });
    };
    let unary = UNARY.iter().filter_map(|op| Some((op.name, op.integer?)));
    let unary = unary.chain(INTEGER_UNARY.iter().map(|op| (op.name, op.integer)));
    for (name, IntegerUnary { cpu_i32, cpu_u32 }) in unary {
        let (signed, unsigned) = match name {
            "clamp" => (", -5, 1000", ", 5u, 1000u"),
            _ => ("", ""),
        };
        push(
            format!("i_{name}"),
            format!("bitcast<u32>(i_{name}(bitcast<i32>(a){signed}))"),
            equal(move |[a, ..]| cpu_i32(a as i32, [-5, 1000]) as u32),
        );
        push(
            format!("u_{name}"),
            format!("u_{name}(a{unsigned})"),
            equal(move |[a, ..]| cpu_u32(a, [5, 1000])),
        );
    }
    let binary = BINARY.iter().map(|op| (op.name, op.integer));
    let binary = binary.chain(INTEGER_BINARY.iter().map(|op| (op.name, op.integer)));
    for (name, IntegerBinary { cpu_i32, cpu_u32 }) in binary {
        push(
            format!("i_{name}"),
            format!("u32(i_{name}(bitcast<i32>(a), bitcast<i32>(b)))"),
            equal(move |[a, b, _]| cpu_i32(a as i32, b as i32) as u32),
        );
        push(
            format!("u_{name}"),
            format!("u_{name}(a, b)"),
            equal(move |[a, b, _]| cpu_u32(a, b)),
        );
    }
}

/// NaN stays NaN, with its sign; everything else to the bit.
fn same_half(nan: bool, expected: u32, got: u32, infinity: u32) -> bool {
    if nan {
        got & 0x7fff > infinity && got <= 0xffff && got & 0x8000 == expected & 0x8000
    } else {
        got == expected
    }
}

fn conversion_jobs(stride: usize, jobs: &mut Vec<Job>) {
    use half::{bf16, f16};
    let edges = inputs::edges().into_iter().map(f32::to_bits);
    // Every half, the midpoints between them, and a step to either side.
    let halves = (0..=u16::MAX).flat_map(|bits| {
        let narrow = f16::from_bits(bits).to_f32().to_bits();
        let tie =
            (f16::from_bits(bits).to_f64() + f16::from_bits(bits.wrapping_add(1)).to_f64()) / 2.0;
        let tie = (tie as f32).to_bits();
        let wide = (bits as u32) << 16;
        [
            narrow,
            tie,
            tie.wrapping_add(1),
            tie.wrapping_sub(1),
            wide,
            wide | 0x8000,
            wide | 0x7fff,
            wide | 0x8001,
        ]
    });
    let strided = (0..=u32::MAX).step_by(stride);
    let floats: Vec<[u32; 3]> = edges
        .chain(halves)
        .chain(strided)
        .map(|x| [x, 0, 0])
        .collect();
    let words: Vec<[u32; 3]> = (0..=u16::MAX as u32).map(|x| [x, 0, 0]).collect();
    let verdict = |right: bool| if right { 0.0 } else { f64::INFINITY };

    let mut push = |name: &str, expression: &str, inputs: &[[u32; 3]], judge: Judge| {
        jobs.push(Job {
            name: name.into(),
            expression: expression.into(),
            inputs: inputs.to_vec(),
            judge,
        });
    };
    push(
        "f16_to_f32",
        "bitcast<u32>(f16_to_f32(a))",
        &words,
        Box::new(move |[a, ..], got| {
            let expected = f16::from_bits(a as u16).to_f32();
            let nan = expected.is_nan() && f32::from_bits(got).is_nan();
            verdict(nan || got == expected.to_bits())
        }),
    );
    push(
        "bf16_to_f32",
        "bitcast<u32>(bf16_to_f32(a))",
        &words,
        equal(|[a, ..]| a << 16),
    );
    push(
        "f32_to_f16",
        "f32_to_f16(bitcast<f32>(a))",
        &floats,
        Box::new(move |[a, ..], got| {
            let x = f32::from_bits(a);
            let expected = f16::from_f32_const(x).to_bits() as u32;
            verdict(same_half(x.is_nan(), expected, got, 0x7c00))
        }),
    );
    push(
        "f32_to_bf16",
        "f32_to_bf16(bitcast<f32>(a))",
        &floats,
        Box::new(move |[a, ..], got| {
            let x = f32::from_bits(a);
            let expected = bf16::from_f32(x).to_bits() as u32;
            verdict(same_half(x.is_nan(), expected, got, 0x7f80))
        }),
    );
    push(
        "f32_to_i32",
        "bitcast<u32>(f32_to_i32(bitcast<f32>(a)))",
        &floats,
        equal(|[a, ..]| f32::from_bits(a) as i32 as u32),
    );
    push(
        "f32_to_u32",
        "f32_to_u32(bitcast<f32>(a))",
        &floats,
        equal(|[a, ..]| f32::from_bits(a) as u32),
    );
    push(
        "f32_is_nan",
        "select(0u, 1u, f32_is_nan(a))",
        &floats,
        equal(|[a, ..]| f32::from_bits(a).is_nan() as u32),
    );
    push(
        "f32_to_key",
        "f32_to_key(a)",
        &floats,
        equal(|[a, ..]| {
            let i = a as i32;
            // As f32::total_cmp orders them.
            (i ^ (((i >> 31) as u32) >> 1) as i32) as u32 ^ 0x8000_0000
        }),
    );
    push(
        "key_to_f32",
        "key_to_f32(f32_to_key(a))",
        &floats,
        equal(|[a, ..]| a),
    );
    push(
        "relu, bits",
        "bitcast<u32>(f_relu(bitcast<f32>(a)))",
        &floats,
        equal(|[a, ..]| {
            if (0x8000_0000..=0xff80_0000).contains(&a) {
                0
            } else {
                a
            }
        }),
    );
    push(
        "i_pow by steps",
        "bitcast<u32>(i_pow(-3, bitcast<i32>(a) & 63))",
        &words,
        equal(|[a, ..]| (0..a & 63).fold(1, |p, _| integer::signed::mul(p, -3)) as u32),
    );
}

/// Every function of `math.wgsl` and `convert.wgsl`.
pub fn all(effort: Effort) -> Vec<Job> {
    let mut jobs = Vec::new();
    float_jobs(effort, &mut jobs);
    integer_jobs(&mut jobs);
    conversion_jobs(effort.stride, &mut jobs);
    jobs
}
