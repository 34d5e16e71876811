//! What sorts are gated with.

use crate::dtype::DType;
use crate::gate::{Effort, Fill, Problem};
use crate::kernels::sort::Payload;
use crate::spec::TensorSpec;

/// Values unlike keys: where each came from can be told.
const VALUES: Fill = Fill::Ramp {
    first: 7.0,
    step: 3.0,
};

/// A problem of one key tensor, and values where the operation takes some.
fn problem(name: impl Into<String>, spec: TensorSpec, fill: Fill, payload: Payload) -> Problem {
    let shape = spec.shape.clone();
    let problem = Problem::new(name).view(spec, fill, 0);
    match payload {
        Payload::Values => problem.input(DType::U32, shape, VALUES),
        _ => problem,
    }
}

/// `n` keys of any bits.
pub(super) fn random(dtype: DType, n: usize, payload: Payload) -> Problem {
    problem(
        format!("{n} random"),
        TensorSpec::new(dtype, [n]),
        Fill::Bits,
        payload,
    )
}

/// Every special float, several times.
fn specials() -> Fill {
    Fill::Cycle(vec![
        0.0,
        f64::NAN,
        -0.0,
        1.5,
        f64::NEG_INFINITY,
        -f64::NAN,
        f64::INFINITY,
        -1.5,
        1e-40,
        -1e-40,
        6e-8,
    ])
}

pub(super) fn problems(dtype: DType, effort: Effort, payload: Payload) -> Vec<Problem> {
    let shaped = |name: String, shape: &[usize], fill: Fill| {
        problem(name, TensorSpec::new(dtype, shape), fill, payload)
    };
    let sized = |n: usize| random(dtype, n, payload);
    let mut problems = vec![sized(10_007)];
    if effort == Effort::Quick {
        return problems;
    }
    let few = Fill::Integers { low: 0, high: 3 };
    let float = DType::FLOATS.contains(&dtype);
    problems.extend([
        sized(1),
        sized(257),
        // Tiles of 128·4, 64·4 and 128·8 keys, and one more.
        sized(1025),
        shaped("4 values".into(), &[3000], few.clone()).zeros_expected(),
        shaped("4 values, descending".into(), &[2049], few.clone())
            .param("descending", true)
            .zeros_expected(),
        shaped("3x1500".into(), &[3, 1500], Fill::Bits),
        // One pass, so that the input goes straight to the output.
        sized(1500).param("begin_bit", 3i64).param("end_bit", 7i64),
    ]);
    if float {
        problems.push(shaped("special".into(), &[1100], specials()).zeros_expected());
    }
    if effort == Effort::Probe {
        return problems;
    }
    let strided = TensorSpec::new(dtype, [40, 30]).strided([1, 43]);
    let backwards = TensorSpec::new(dtype, [700]).strided([-3]);
    problems.extend([
        shaped("empty".into(), &[0], Fill::Bits),
        shaped("empty rows".into(), &[5, 0], Fill::Bits),
        shaped("scalar".into(), &[], Fill::Bits),
        sized(2),
        sized(1023),
        sized(1024),
        sized(2048),
        sized(70_001),
        shaped("equal".into(), &[5000], Fill::Constant(3.0)),
        shaped(
            "sorted".into(),
            &[2000],
            Fill::Ramp {
                first: 1.0,
                step: 1.0,
            },
        ),
        shaped(
            "reversed".into(),
            &[2000],
            Fill::Ramp {
                first: 2001.0,
                step: -1.0,
            },
        ),
        shaped("random, descending".into(), &[4099], Fill::Bits).param("descending", true),
        shaped("no bits".into(), &[1300], Fill::Bits)
            .param("begin_bit", 11i64)
            .param("end_bit", 11i64),
        // Odd and even numbers of passes, of 4 bits and of 8.
        shaped("12 bits, descending".into(), &[1300], Fill::Bits)
            .param("begin_bit", 2i64)
            .param("end_bit", 14i64)
            .param("descending", true),
        shaped("17 bits".into(), &[1300], Fill::Bits).param("end_bit", 17i64),
        shaped("the last bit".into(), &[1300], Fill::Bits).param("begin_bit", 31i64),
        shaped("300x7".into(), &[300, 7], Fill::Bits),
        shaped("2x3x1028".into(), &[2, 3, 1028], Fill::Bits).param("descending", true),
        problem("transposed view", strided, Fill::Bits, payload),
        problem("backwards", backwards, Fill::Bits, payload),
        shaped("one buffer".into(), &[3001], Fill::Bits).shared_buffers(),
    ]);
    let unaligned = Problem::new("unaligned view").view(
        TensorSpec::new(dtype, [2047]).unaligned(),
        Fill::Bits,
        5,
    );
    problems.push(match payload {
        Payload::Values => unaligned
            .view(TensorSpec::new(DType::F32, [2047]).unaligned(), VALUES, 1)
            .unaligned_outputs(),
        _ => unaligned.unaligned_outputs(),
    });
    if float {
        problems.extend([
            shaped("special, descending".into(), &[777], specials())
                .param("descending", true)
                .zeros_expected(),
            shaped("special, upper bits".into(), &[777], specials())
                .param("begin_bit", 9i64)
                .zeros_expected(),
        ]);
    }
    // The keys of a bit-wise conjunction of random ones: ever fewer bits are set.
    if dtype.size() == 4 {
        let entropy = |and: usize| {
            let bits = (0..4096u64)
                .map(|i| {
                    (0..and as u64).fold(u32::MAX, |bits, k| {
                        let mix = (i * 31 + k + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                        bits & (mix ^ (mix >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) as u32
                    })
                })
                .collect();
            shaped(
                format!("conjunction of {and}"),
                &[9000],
                Fill::CycleBits(bits),
            )
            .zeros_expected()
        };
        problems.extend([entropy(2), entropy(5)]);
    }
    if effort == Effort::Full {
        problems.extend((0..40).map(|i| sized(1 + i * 53)));
        problems.extend([
            sized(1_000_003),
            shaped("70000x3".into(), &[70_000, 3], Fill::Bits),
        ]);
    }
    problems
}
