// The mean: a sum, divided at the end by the number of elements, whose f32 bits
// are the parameter.

import super::scalar::Scalar;

alias Value = Scalar;

fn identity() -> Value {
    return 0.0;
}

fn combine(a: Value, b: Value) -> Value {
    return a + b;
}

fn lift(x: Scalar, index: u32) -> Value {
    return x;
}

fn finish(v: Value, parameter: u32) -> Scalar {
    return v / bitcast<f32>(parameter);
}

fn gradient(x: Scalar, cotangent: Scalar, parameter: u32) -> Scalar {
    return cotangent / bitcast<f32>(parameter);
}
