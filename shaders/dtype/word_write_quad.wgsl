// Stores of 32-bit elements, four at a time.

import super::storage::data;
import super::scalar::Scalar;

fn store4(q: u32, x: vec4<Scalar>) {
    data[q] = bitcast<vec4<u32>>(x);
}

fn store4_bits(q: u32, x: vec4<u32>) {
    data[q] = x;
}

// Stores the first `count` elements of quad q and leaves the others alone.
fn store4_tail(q: u32, x: vec4<Scalar>, count: u32) {
    store4_tail_bits(q, bitcast<vec4<u32>>(x), count);
}

fn store4_tail_bits(q: u32, x: vec4<u32>, count: u32) {
    if count >= 4u {
        data[q] = x;
        return;
    }
    if count > 0u {
        data[q].x = x.x;
    }
    if count > 1u {
        data[q].y = x.y;
    }
    if count > 2u {
        data[q].z = x.z;
    }
}
