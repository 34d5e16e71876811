// The bin of an integer among bins of one width, exactly: the greatest k with
// k * (high - low) <= (x - low) * bins, in 64 bits. An estimate in floats is off
// by a few where there are many bins. `SIGN` makes signed integers ascend as bits.

import super::config::SIGN;
import super::math::math_multiply_wide;

fn at_most(a: vec2<u32>, b: vec2<u32>) -> bool {
    return a.y < b.y || (a.y == b.y && a.x <= b.x);
}

fn bin(bits: u32, low: u32, high: u32, scale: f32, bins: u32, inclusive: u32) -> u32 {
    let x = bits ^ SIGN;
    if x < low || x > high || (x == high && inclusive == 0u) {
        return bins;
    }
    let distance = x - low;
    let range = high - low;
    let wanted = math_multiply_wide(distance, bins);
    var k = min(u32(f32(distance) * scale), bins - 1u);
    for (var i = 0u; i < 8u; i++) {
        if !at_most(math_multiply_wide(k, range), wanted) {
            k -= 1u;
        } else if k < bins - 1u && at_most(math_multiply_wide(k + 1u, range), wanted) {
            k += 1u;
        }
    }
    return k;
}
