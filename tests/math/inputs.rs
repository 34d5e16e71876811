//! What the functions are tried on, as bits.

use half::{bf16, f16};

/// SplitMix64 (Steele, Lea, Flood 2014).
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in `low..high`; log-uniform half of the time where both have a sign.
    pub fn within(&mut self, (low, high): (f64, f64)) -> f32 {
        let u = (self.bits() >> 11) as f64 / (1u64 << 53) as f64;
        if low > 0.0 && self.bits() & 1 == 0 {
            return (low.ln() + u * (high.ln() - low.ln())).exp() as f32;
        }
        (low + u * (high - low)) as f32
    }
}

/// Numbers at which something changes.
pub fn edges() -> Vec<f32> {
    let mut edges = vec![
        0.0,
        f32::MIN_POSITIVE,
        f32::MIN_POSITIVE / 2.0,
        f32::from_bits(1),
        f32::MAX,
        f32::INFINITY,
        f32::NAN,
        f32::from_bits(0x7f80_0001), // signalling
        0.5,
        1.5,
        2.5,
        3.0,
        5.0,
        11.1,
        13.24,
        20.0,
        87.3,
        87.34,
        88.72,
        88.73,
        100.0,
        103.98,
        126.0,
        127.99,
        128.0,
        149.5,
        1000.0,
        3214.9,
        3215.1,
        8388607.5,
        8388609.0,
        16777217.0,
        2147483648.0,
        4294967296.0,
        1e30,
        0.346_573_6,
        0.625,
        0.927_734_4,
        0.414_213_5,
        0.292_893_2,
        std::f32::consts::PI,
        std::f32::consts::FRAC_PI_2,
        std::f32::consts::FRAC_PI_4,
        // Nearest to a multiple of pi/2 among all f32 (Muller).
        16367173.0 * (1u64 << 63) as f32 * 512.0,
    ];
    edges.extend((-149..128).map(|e| (e as f64).exp2() as f32));
    let neighbours = |x: &f32| [x.next_down(), *x, x.next_up()];
    let mut edges: Vec<f32> = edges.iter().flat_map(neighbours).collect();
    edges.extend(edges.clone().iter().map(|x| -x));
    edges
}

/// All of f16 and bf16, the edges, `count` draws from the domain, and every
/// `stride`-th bit pattern of f32.
pub fn unary(domain: (f64, f64), count: usize, stride: usize) -> Vec<f32> {
    let mut random = Random(1);
    let mut inputs = edges();
    inputs.extend((0..=u16::MAX).map(|bits| f16::from_bits(bits).to_f32()));
    inputs.extend((0..=u16::MAX).map(|bits| bf16::from_bits(bits).to_f32()));
    inputs.extend((0..count).map(|_| random.within(domain)));
    inputs.extend((0..=u32::MAX).step_by(stride).map(f32::from_bits));
    inputs
}

/// Pairs: some edges with all edges, draws from the domain, whole numbers, near
/// neighbours and random bits, `count` of each.
pub fn binary(domain: [(f64, f64); 2], count: usize) -> Vec<(f32, f32)> {
    let mut random = Random(2);
    let edges = edges();
    let few = |x: &f32| x.to_bits().is_multiple_of(3) || !x.is_normal() || x.abs() < 30.0;
    let chosen: Vec<f32> = edges.iter().copied().filter(few).step_by(5).collect();
    let mut pairs: Vec<(f32, f32)> = Vec::new();
    for &a in &chosen {
        pairs.extend(edges.iter().flat_map(|&b| [(a, b), (b, a)]));
    }
    for _ in 0..count {
        let bits = random.bits();
        pairs.push((random.within(domain[0]), random.within(domain[1])));
        pairs.push((
            (bits as i32 >> 20) as f32,
            ((bits >> 32) as i32 >> 27) as f32,
        ));
        let near = random.within(domain[0]);
        pairs.push((near, f32::from_bits(near.to_bits() ^ (bits & 7) as u32)));
        pairs.push((
            f32::from_bits(bits as u32),
            f32::from_bits((bits >> 32) as u32),
        ));
    }
    pairs
}

/// Pairs of integers: edges with edges, small ones, and random bits.
pub fn integers() -> Vec<(u32, u32)> {
    let mut random = Random(3);
    let mut edges: Vec<u32> = (0..40u32).flat_map(|k| [k, k.wrapping_neg()]).collect();
    edges.extend((5..32).flat_map(|k| [1 << k, (1u32 << k) - 1, (1u32 << k) + 1, 768]));
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    for &a in &edges {
        pairs.extend(edges.iter().map(|&b| (a, b)));
    }
    for _ in 0..20_000 {
        let bits = random.bits();
        pairs.push((bits as u32, (bits >> 32) as u32));
        pairs.push((bits as u32, ((bits >> 32) as i32 >> 24) as u32));
    }
    pairs
}
