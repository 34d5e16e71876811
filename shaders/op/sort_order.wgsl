// From the stored bits of a key to an unsigned integer that sorts as the key does.
//
// Floats: -inf < ... < -0 = +0 < ... < +inf < every NaN, whatever its sign. Keys
// that sort alike keep their order and their bits, so sorting moves the stored
// bits and finds the integer anew in each pass. `sign` and `infinity` are the
// bits of -0 and +inf. Signed integers only need their sign inverted, which the
// kernels do for all integers by the `flip` that also makes them descend.

@if(float)
fn sort_order(bits: u32, sign: u32, infinity: u32) -> u32 {
    let magnitude = bits & (sign - 1u);
    let ordered = select(sign + magnitude, sign - magnitude, bits >= sign);
    return select(ordered, sign | (sign - 1u), magnitude > infinity);
}

@if(!float)
fn sort_order(bits: u32, sign: u32, infinity: u32) -> u32 {
    return bits;
}
