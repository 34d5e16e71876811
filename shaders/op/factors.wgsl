// For the gradient of a product: the product of the factors that are not 0, as
// f32 bits, and how many are. Where no factor is 0, the derivative by x is the
// product over x; where x is the only one, it is the product of the others.

alias Value = vec2<u32>;

fn identity() -> Value {
    return vec2<u32>(0x3f800000u, 0u);
}

fn combine(a: Value, b: Value) -> Value {
    let product = bitcast<f32>(a.x) * bitcast<f32>(b.x);
    return vec2<u32>(bitcast<u32>(product), a.y + b.y);
}

fn is_zero(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) == 0u;
}

fn lift(x: f32, index: u32) -> Value {
    return select(vec2<u32>(bitcast<u32>(x), 0u), vec2<u32>(0x3f800000u, 1u), is_zero(x));
}

fn gradient(x: f32, v: Value, cotangent: f32, parameter: u32) -> f32 {
    let product = bitcast<f32>(v.x);
    if is_zero(x) {
        return select(0.0, cotangent * product, v.y == 1u);
    }
    return select(0.0, cotangent * product / x, v.y == 0u);
}
