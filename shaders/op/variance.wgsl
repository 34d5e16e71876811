// Count, mean and sum of squared deviations, merged pairwise (Chan, Golub,
// LeVeque: Updating formulae and a pairwise algorithm for computing sample
// variances, 1979), of elements less the row's first: what a large mean would
// cost in digits is gone before it counts. The parameter is the f32 bits of the divisor.

alias Value = vec3<f32>;

fn identity() -> Value {
    return vec3<f32>();
}

fn combine(a: Value, b: Value) -> Value {
    let n = a.x + b.x;
    let delta = b.y - a.y;
    let share = b.x / n;
    let merged = vec3<f32>(n, a.y + delta * share, (a.z + b.z) + delta * delta * (a.x * share));
    return select(select(merged, b, a.x == 0.0), a, b.x == 0.0);
}

// What is subtracted from every element.
fn lift_shifted(x: f32, shift: f32) -> Value {
    return vec3<f32>(1.0, x - shift, 0.0);
}

var<private> nan_bits: u32 = 0x7fc00000u;
var<private> infinity_bits: u32 = 0x7f800000u;

// No degrees of freedom: 0/0, or what deviates over 0.
fn finish(v: Value, parameter: u32) -> f32 {
    if parameter == 0u {
        return bitcast<f32>(select(nan_bits, infinity_bits, v.z > 0.0));
    }
    // A sum of squares is inf or NaN only where an element is, or by overflow.
    return v.z / bitcast<f32>(parameter);
}

fn gradient_shifted(x: f32, shift: f32, v: Value, cotangent: f32, parameter: u32) -> f32 {
    if parameter == 0u {
        return bitcast<f32>(nan_bits);
    }
    return cotangent * (2.0 * ((x - shift) - v.y) / bitcast<f32>(parameter));
}
