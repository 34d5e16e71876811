// The bin of a float among bins of one width: (x - low) * bins / (high - low),
// rounded down. What lies outside gets the number of bins; NaN does too.

fn bin(bits: u32, low_bits: u32, high_bits: u32, scale: f32, bins: u32, inclusive: u32) -> u32 {
    let x = bitcast<f32>(bits);
    let low = bitcast<f32>(low_bits);
    let high = bitcast<f32>(high_bits);
    // By its bits: compilers fold comparisons of NaN.
    let number = (bits & 0x7fffffffu) <= 0x7f800000u;
    let within = number && x >= low && (x < high || (inclusive == 1u && x == high));
    return select(bins, min(u32(max((x - low) * scale, 0.0)), bins - 1u), within);
}
