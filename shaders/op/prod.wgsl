// Multiplication. Integers wrap.

import super::scalar::Scalar;

alias Value = Scalar;

fn identity() -> Value {
    return Scalar(1);
}

fn combine(a: Value, b: Value) -> Value {
    return a * b;
}

fn lift(x: Scalar, index: u32) -> Value {
    return x;
}

fn finish(v: Value, parameter: u32) -> Scalar {
    return v;
}
