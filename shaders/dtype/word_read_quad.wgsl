// Loads of 32-bit elements, four at a time.

import super::storage::data;
import super::scalar::Scalar;

fn load4(q: u32) -> vec4<Scalar> {
    return bitcast<vec4<Scalar>>(data[q]);
}

fn load4_bits(q: u32) -> vec4<u32> {
    return data[q];
}

fn load(i: u32) -> Scalar {
    return bitcast<Scalar>(data[i >> 2u][i & 3u]);
}

fn load_bits(i: u32) -> u32 {
    return data[i >> 2u][i & 3u];
}
