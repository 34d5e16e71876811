// Four neighbours of a factor that starts anywhere, one by one.

import super::source;

fn four(at: u32, lanes: vec4<u32>) -> vec4<f32> {
    return vec4<f32>(
        source::load(at + lanes.x),
        source::load(at + lanes.y),
        source::load(at + lanes.z),
        source::load(at + lanes.w),
    );
}

// The first `left` of them, zeros for the others.
fn four_of(at: u32, left: u32) -> vec4<f32> {
    var v = vec4<f32>();
    if left > 0u {
        v.x = source::load(at);
    }
    if left > 1u {
        v.y = source::load(at + 1u);
    }
    if left > 2u {
        v.z = source::load(at + 2u);
    }
    if left > 3u {
        v.w = source::load(at + 3u);
    }
    return v;
}
