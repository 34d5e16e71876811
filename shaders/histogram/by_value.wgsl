// The bin of an integer: itself. Negative ones are beyond every bin.

fn bin(bits: u32, low: u32, high: u32, scale: f32, bins: u32, inclusive: u32) -> u32 {
    return bits;
}
