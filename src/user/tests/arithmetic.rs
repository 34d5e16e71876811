//! Operators and conversions, against the arithmetic of Rust.

use super::{Value, bools, eval, expression, f32s, i32s, u32s};

fn f(op: &str, a: f32, b: f32) -> Value {
    expression(&[Value::F32(a), Value::F32(b)], "f32", op)
}

fn i(op: &str, a: i32, b: i32) -> Value {
    expression(&[Value::I32(a), Value::I32(b)], "i32", op)
}

fn u(op: &str, a: u32, b: u32) -> Value {
    expression(&[Value::U32(a), Value::U32(b)], "u32", op)
}

#[test]
fn float_operators() {
    for (a, b) in [
        (1.5f32, 2.25f32),
        (-7.5, 2.0),
        (7.5, -2.0),
        (0.1, 0.3),
        (1e30, 1e-30),
    ] {
        assert_eq!(f("a + b", a, b), Value::F32(a + b));
        assert_eq!(f("a - b", a, b), Value::F32(a - b));
        assert_eq!(f("a * b", a, b), Value::F32(a * b));
        assert_eq!(f("a / b", a, b), Value::F32(a / b));
        assert_eq!(f("a % b", a, b), Value::F32(a % b));
        assert_eq!(f("-a + b", a, b), Value::F32(-a + b));
    }
    // Truncated, not floored.
    assert_eq!(f("a % b", -7.5, 2.0), Value::F32(-1.5));
    assert_eq!(f("a / b", 1.0, 0.0), Value::F32(f32::INFINITY));
}

#[test]
fn integers_wrap() {
    assert_eq!(i("a + b", i32::MAX, 1), Value::I32(i32::MIN));
    assert_eq!(i("a - b", i32::MIN, 1), Value::I32(i32::MAX));
    assert_eq!(i("a * b", 65536, 65536), Value::I32(0));
    assert_eq!(u("a + b", u32::MAX, 2), Value::U32(1));
    assert_eq!(u("a - b", 0, 1), Value::U32(u32::MAX));
    assert_eq!(u("a * b", 0x10001, 0x10001), Value::U32(0x20001));
    assert_eq!(i("-a + b", i32::MIN, 0), Value::I32(i32::MIN));
}

#[test]
fn division_has_no_traps() {
    assert_eq!(i("a / b", 7, -2), Value::I32(-3));
    assert_eq!(i("a % b", -7, 2), Value::I32(-1));
    assert_eq!(i("a / b", 7, 0), Value::I32(7));
    assert_eq!(i("a % b", 7, 0), Value::I32(0));
    assert_eq!(i("a / b", i32::MIN, -1), Value::I32(i32::MIN));
    assert_eq!(i("a % b", i32::MIN, -1), Value::I32(0));
    assert_eq!(u("a / b", 7, 0), Value::U32(7));
    assert_eq!(u("a % b", 7, 0), Value::U32(0));
    assert_eq!(u("a / b", u32::MAX, 2), Value::U32(0x7fff_ffff));
    assert_eq!(u("a % b", u32::MAX, 10), Value::U32(5));
}

#[test]
fn bits_and_shifts() {
    assert_eq!(u("a & b", 0b1100, 0b1010), Value::U32(0b1000));
    assert_eq!(u("a | b", 0b1100, 0b1010), Value::U32(0b1110));
    assert_eq!(u("a ^ b", 0b1100, 0b1010), Value::U32(0b0110));
    assert_eq!(u("~a + b", 0, 0), Value::U32(u32::MAX));
    assert_eq!(u("a << b", 1, 31), Value::U32(1 << 31));
    assert_eq!(u("a << b", 1, 33), Value::U32(2));
    assert_eq!(u("a >> b", 1 << 31, 31), Value::U32(1));
    assert_eq!(u("a >> b", 8, 34), Value::U32(2));
    let shift = |a, b| expression(&[Value::I32(a), Value::U32(b)], "i32", "a >> b");
    assert_eq!(shift(-8, 1), Value::I32(-4));
    assert_eq!(shift(i32::MIN, 31), Value::I32(-1));
    assert_eq!(shift(i32::MIN, 63), Value::I32(-1));
}

#[test]
fn comparisons() {
    let compare = |op: &str, a: Value, b: Value| expression(&[a, b], "bool", op);
    for (a, b) in [
        (1.0f32, 2.0f32),
        (2.0, 1.0),
        (1.0, 1.0),
        (0.0, -0.0),
        (f32::NAN, 1.0),
    ] {
        let of = |op| compare(op, Value::F32(a), Value::F32(b));
        assert_eq!(of("a < b"), Value::Bool(a < b));
        assert_eq!(of("a <= b"), Value::Bool(a <= b));
        assert_eq!(of("a > b"), Value::Bool(a > b));
        assert_eq!(of("a >= b"), Value::Bool(a >= b));
        assert_eq!(of("a == b"), Value::Bool(a == b));
        assert_eq!(of("a != b"), Value::Bool(a != b));
    }
    for (a, b) in [(-1i32, 1i32), (1, -1), (5, 5)] {
        let of = |op| compare(op, Value::I32(a), Value::I32(b));
        assert_eq!(of("a < b"), Value::Bool(a < b));
        assert_eq!(of("a >= b"), Value::Bool(a >= b));
        let of = |op| compare(op, Value::U32(a as u32), Value::U32(b as u32));
        assert_eq!(of("a < b"), Value::Bool((a as u32) < b as u32));
        assert_eq!(of("a <= b"), Value::Bool(a as u32 <= b as u32));
    }
    let of = |op| compare(op, Value::Bool(true), Value::Bool(false));
    assert_eq!(of("a && b"), Value::Bool(false));
    assert_eq!(of("a || b"), Value::Bool(true));
    assert_eq!(of("a & b"), Value::Bool(false));
    assert_eq!(of("a | b"), Value::Bool(true));
    assert_eq!(of("a != b"), Value::Bool(true));
    assert_eq!(of("!a == b"), Value::Bool(true));
}

#[test]
fn conversions_saturate_and_round_to_zero() {
    let to_i32 = |v: f32| expression(&[Value::F32(v)], "i32", "i32(a)");
    let to_u32 = |v: f32| expression(&[Value::F32(v)], "u32", "u32(a)");
    assert_eq!(to_i32(-3.9), Value::I32(-3));
    assert_eq!(to_i32(3.9), Value::I32(3));
    assert_eq!(to_i32(f32::NAN), Value::I32(0));
    // The largest i32 and u32 that are also f32.
    assert_eq!(to_i32(3e9), Value::I32(2147483520));
    assert_eq!(to_i32(-3e9), Value::I32(i32::MIN));
    assert_eq!(to_u32(f32::INFINITY), Value::U32(4294967040));
    assert_eq!(to_u32(-1.0), Value::U32(0));
    assert_eq!(to_u32(f32::NAN), Value::U32(0));
    let one = |v: Value, to: &str| expression(&[v], to, &format!("{to}(a)"));
    assert_eq!(one(Value::I32(-1), "u32"), Value::U32(u32::MAX));
    assert_eq!(one(Value::I32(-5), "f32"), Value::F32(-5.0));
    assert_eq!(one(Value::U32(u32::MAX), "f32"), Value::F32(4294967296.0));
    assert_eq!(one(Value::U32(2), "bool"), Value::Bool(true));
    assert_eq!(one(Value::F32(-0.0), "bool"), Value::Bool(false));
    assert_eq!(one(Value::Bool(true), "f32"), Value::F32(1.0));
    assert_eq!(one(Value::Bool(true), "i32"), Value::I32(1));
    let bits = expression(&[Value::F32(1.0)], "u32", "bitcast<u32>(a)");
    assert_eq!(bits, Value::U32(0x3f80_0000));
    let vector = expression(&[f32s(&[1.5, -2.5])], "vec2<i32>", "vec2<i32>(a)");
    assert_eq!(vector, i32s(&[1, -2]));
}

#[test]
fn vectors() {
    let a = f32s(&[1.0, 2.0, 3.0]);
    let b = f32s(&[4.0, 5.0, 6.0]);
    let of = |op: &str| expression(&[a.clone(), b.clone()], "vec3<f32>", op);
    assert_eq!(of("a + b"), f32s(&[5.0, 7.0, 9.0]));
    assert_eq!(of("a * 2.0 - 1.0"), f32s(&[1.0, 3.0, 5.0]));
    assert_eq!(of("2.0 / a"), f32s(&[2.0, 1.0, 2.0 / 3.0]));
    assert_eq!(of("a.zyx"), f32s(&[3.0, 2.0, 1.0]));
    assert_eq!(of("vec3(a.xy, b.z)"), f32s(&[1.0, 2.0, 6.0]));
    assert_eq!(of("vec3(7.0)"), f32s(&[7.0; 3]));
    assert_eq!(of("select(a, b, a < vec3(2.0))"), f32s(&[4.0, 2.0, 3.0]));
    assert_eq!(of("select(a, b, b.x > 3.0)"), b);
    let less = expression(&[a.clone(), b.clone()], "vec3<bool>", "a + 3.0 < b");
    assert_eq!(less, bools(&[false, false, false]));
    let is = |op: &str| expression(&[a.clone(), b.clone()], "bool", op);
    assert_eq!(is("all(a < b)"), Value::Bool(true));
    assert_eq!(is("any(a > b)"), Value::Bool(false));
    assert_eq!(is("any(a > vec3(2.5))"), Value::Bool(true));
    let c = expression(
        &[u32s(&[1, 2, 4, 8])],
        "vec4<u32>",
        "a << vec4(1u, 2u, 3u, 4u)",
    );
    assert_eq!(c, u32s(&[2, 8, 32, 128]));
}

#[test]
fn matrices() {
    // Columns (1, 2) and (3, 4).
    let text = |body: &str, result: &str| {
        format!(
            "fn f(v: vec2f) -> {result} {{ let m = mat2x2f(1.0, 2.0, 3.0, 4.0); let n = mat3x2f(1.0, 0.0, 0.0, 1.0, v.x, v.y); return {body}; }}"
        )
    };
    let v = [f32s(&[5.0, 6.0])];
    assert_eq!(eval(&text("m * v", "vec2f"), &v), f32s(&[23.0, 34.0]));
    assert_eq!(eval(&text("v * m", "vec2f"), &v), f32s(&[17.0, 39.0]));
    let product = eval(&text("m * n", "mat3x2f"), &v);
    let columns = [[1.0, 2.0], [3.0, 4.0], [23.0, 34.0]].map(|c| f32s(&c));
    assert_eq!(product, Value::Composite(columns.to_vec()));
    let transposed = eval(&text("transpose(n)", "mat2x3f"), &v);
    let columns = [[1.0, 0.0, 5.0], [0.0, 1.0, 6.0]].map(|c| f32s(&c));
    assert_eq!(transposed, Value::Composite(columns.to_vec()));
    assert_eq!(eval(&text("determinant(m)", "f32"), &v), Value::F32(-2.0));
    let sum = eval(&text("(m + m - m * 3.0)[1]", "vec2f"), &v);
    assert_eq!(sum, f32s(&[-3.0, -4.0]));
    assert_eq!(eval(&text("n[2].y", "f32"), &v), Value::F32(6.0));
}

#[test]
fn determinants_of_larger_matrices() {
    let three = "fn f(a: f32) -> f32 { return determinant(mat3x3f(2.0, 0.0, 1.0, 1.0, 3.0, 2.0, 1.0, 1.0, a)); }";
    // 2 (3a - 2) - 0 + 1 (1 - 3)
    assert_eq!(eval(three, &[Value::F32(4.0)]), Value::F32(18.0));
    let four = "fn f(a: f32) -> f32 { return determinant(mat4x4f(
        a, 0.0, 0.0, 0.0,  1.0, 2.0, 0.0, 0.0,  5.0, 6.0, 3.0, 0.0,  7.0, 8.0, 9.0, 4.0)); }";
    assert_eq!(eval(four, &[Value::F32(1.0)]), Value::F32(24.0));
    let swapped = "fn f(a: f32) -> f32 { return determinant(mat4x4f(
        0.0, 1.0, 0.0, 0.0,  a, 0.0, 0.0, 0.0,  0.0, 0.0, 0.0, 1.0,  0.0, 0.0, 1.0, 0.0)); }";
    assert_eq!(eval(swapped, &[Value::F32(1.0)]), Value::F32(1.0));
}

#[test]
fn structs_arrays_constants_and_aliases() {
    let text = "
        alias Number = f32;
        struct Pair { value: Number, index: u32 }
        const BIAS = 0.5;
        const TABLE = array<f32, 3>(10.0, 20.0, 30.0);
        const ORIGIN = Pair(1.0, 7u);
        fn f(i: u32) -> Pair {
            var zero: Pair;
            zero.index += ORIGIN.index;
            var local = array<Pair, 2>(ORIGIN, zero);
            local[1].value = TABLE[i] + BIAS;
            return local[i];
        }";
    let pair = |value, index| Value::Composite(vec![Value::F32(value), Value::U32(index)]);
    assert_eq!(eval(text, &[Value::U32(0)]), pair(1.0, 7));
    assert_eq!(eval(text, &[Value::U32(1)]), pair(20.5, 7));
    // Out of bounds: the last element.
    assert_eq!(eval(text, &[Value::U32(9)]), pair(30.5, 7));
}

#[test]
fn constant_expressions_fold_like_the_rest() {
    let text = "
        const N = 3;
        const V = vec3(1.0, 2.0, 3.0);
        const M = mat2x2f(1.0, 2.0, 3.0, 4.0);
        const A = array(V, V * 2.0);
        fn f() -> f32 {
            const W = V.zyx + f32(N);
            return W.x + A[1].y + M[1][0] + select(1.0, 2.0, N > 2) + dot(V, vec3(1.0));
        }";
    assert_eq!(eval(text, &[]), Value::F32(6.0 + 4.0 + 3.0 + 2.0 + 6.0));
}
