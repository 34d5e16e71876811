// Stores of 16-bit elements, four (two words) at a time.

import super::storage::data;
import super::half::encode;

fn store4(q: u32, x: vec4<f32>) {
    store4_bits(q, vec4<u32>(encode(x.x), encode(x.y), encode(x.z), encode(x.w)));
}

fn store4_bits(q: u32, x: vec4<u32>) {
    data[q] = vec2<u32>(x.x | (x.y << 16u), x.z | (x.w << 16u));
}

// Stores the first `count` elements of quad q; the other half of a shared word keeps its value.
fn store4_tail(q: u32, x: vec4<f32>, count: u32) {
    store4_tail_bits(q, vec4<u32>(encode(x.x), encode(x.y), encode(x.z), encode(x.w)), count);
}

fn store4_tail_bits(q: u32, x: vec4<u32>, count: u32) {
    if count >= 4u {
        store4_bits(q, x);
        return;
    }
    if count == 1u {
        data[q].x = (data[q].x & 0xffff0000u) | x.x;
    } else if count > 1u {
        data[q].x = x.x | (x.y << 16u);
    }
    if count == 3u {
        data[q].y = (data[q].y & 0xffff0000u) | x.z;
    }
}
