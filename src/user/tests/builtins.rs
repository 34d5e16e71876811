//! Built-in functions, against Rust's library and values worked out by hand.

use super::{Value, eval, expression, f32s, i32s, u32s};

fn f1(call: &str, x: f32) -> f32 {
    match expression(&[Value::F32(x)], "f32", call) {
        Value::F32(value) => value,
        other => panic!("{other:?}"),
    }
}

fn floats(call: &str, arguments: &[f32]) -> Value {
    let arguments: Vec<Value> = arguments.iter().map(|&v| Value::F32(v)).collect();
    expression(&arguments, "f32", call)
}

fn uint(call: &str, arguments: &[u32]) -> Value {
    let arguments: Vec<Value> = arguments.iter().map(|&v| Value::U32(v)).collect();
    expression(&arguments, "u32", call)
}

fn int(call: &str, x: i32) -> Value {
    expression(&[Value::I32(x)], "i32", call)
}

#[test]
fn of_one_float() {
    type Case = (&'static str, fn(f32) -> f32);
    let cases: &[Case] = &[
        ("abs(a)", f32::abs),
        ("acos(a)", f32::acos),
        ("acosh(a + 1.0)", |x| (x + 1.0).acosh()),
        ("asin(a)", f32::asin),
        ("asinh(a)", f32::asinh),
        ("atan(a)", f32::atan),
        ("atanh(a)", f32::atanh),
        ("ceil(a)", f32::ceil),
        ("cos(a)", f32::cos),
        ("cosh(a)", f32::cosh),
        ("degrees(a)", f32::to_degrees),
        ("exp(a)", f32::exp),
        ("exp2(a)", f32::exp2),
        ("floor(a)", f32::floor),
        ("fract(a)", |x| x - x.floor()),
        ("inverseSqrt(a)", |x| 1.0 / x.sqrt()),
        ("log(a)", f32::ln),
        ("log2(a)", f32::log2),
        ("radians(a)", f32::to_radians),
        ("round(a)", f32::round_ties_even),
        ("saturate(a)", |x| x.clamp(0.0, 1.0)),
        ("sin(a)", f32::sin),
        ("sinh(a)", f32::sinh),
        ("sqrt(a)", f32::sqrt),
        ("tan(a)", f32::tan),
        ("tanh(a)", f32::tanh),
        ("trunc(a)", f32::trunc),
        ("length(a)", f32::abs),
    ];
    for (call, expected) in cases {
        for x in [0.25f32, 0.5, 0.9] {
            assert_eq!(f1(call, x), expected(x), "{call} at {x}");
        }
    }
}

#[test]
fn rounding_and_signs() {
    for (x, rounded) in [
        (0.5, 0.0),
        (1.5, 2.0),
        (2.5, 2.0),
        (-2.5, -2.0),
        (-0.7, -1.0),
    ] {
        assert_eq!(f1("round(a)", x), rounded);
    }
    assert_eq!(f1("fract(a)", -1.25), 0.75);
    assert_eq!(f1("trunc(a)", -1.75), -1.0);
    assert_eq!(f1("sign(a)", -3.0), -1.0);
    assert_eq!(f1("sign(a)", 0.0), 0.0);
    assert_eq!(f1("sign(a)", 3.0), 1.0);
    assert_eq!(f1("saturate(a)", -3.0), 0.0);
    assert_eq!(f1("quantizeToF16(a)", 0.1), 0.099975586);
    assert_eq!(f1("degrees(a)", std::f32::consts::PI), 180.0);
    assert_eq!(int("sign(a)", -9), Value::I32(-1));
    assert_eq!(int("abs(a)", i32::MIN), Value::I32(i32::MIN));
    assert_eq!(int("abs(a)", -4), Value::I32(4));
    assert_eq!(uint("abs(a)", &[7]), Value::U32(7));
}

#[test]
fn of_several_floats() {
    assert_eq!(
        floats("atan2(a, b)", &[1.0, -1.0]),
        Value::F32(3.0 * std::f32::consts::FRAC_PI_4)
    );
    assert_eq!(floats("pow(a, b)", &[2.0, 10.0]), Value::F32(1024.0));
    assert_eq!(floats("min(a, b)", &[2.0, -10.0]), Value::F32(-10.0));
    assert_eq!(floats("max(a, b)", &[2.0, -10.0]), Value::F32(2.0));
    assert_eq!(floats("step(a, b)", &[2.0, 2.0]), Value::F32(1.0));
    assert_eq!(floats("step(a, b)", &[2.0, 1.9]), Value::F32(0.0));
    assert_eq!(floats("clamp(a, b, c)", &[5.0, 0.0, 2.0]), Value::F32(2.0));
    assert_eq!(
        floats("mix(a, b, c)", &[10.0, 20.0, 0.25]),
        Value::F32(12.5)
    );
    assert_eq!(
        floats("smoothstep(a, b, c)", &[0.0, 2.0, 1.0]),
        Value::F32(0.5)
    );
    assert_eq!(
        floats("smoothstep(a, b, c)", &[0.0, 4.0, 1.0]),
        Value::F32(0.15625)
    );
    // Fused: the product alone would round to 1.
    let e = f32::EPSILON;
    assert_eq!(
        floats("fma(a, b, c)", &[1.0 + e, 1.0 - e, -1.0]),
        Value::F32(-e * e)
    );
    assert_eq!(floats("distance(a, b)", &[1.0, 4.5]), Value::F32(3.5));
    let ldexp = |x: f32, e: i32| expression(&[Value::F32(x), Value::I32(e)], "f32", "ldexp(a, b)");
    assert_eq!(ldexp(0.75, 3), Value::F32(6.0));
    assert_eq!(ldexp(1.0, -149), Value::F32(f32::from_bits(1)));
    assert_eq!(ldexp(1.0, i32::MAX), Value::F32(f32::INFINITY));
    assert_eq!(ldexp(f32::from_bits(1), 149), Value::F32(1.0));
}

#[test]
fn of_integers() {
    let two = |call: &str, a: i32, b: i32| expression(&[Value::I32(a), Value::I32(b)], "i32", call);
    assert_eq!(two("min(a, b)", -1, 1), Value::I32(-1));
    assert_eq!(two("max(a, b)", -1, 1), Value::I32(1));
    assert_eq!(uint("min(a, b)", &[u32::MAX, 1]), Value::U32(1));
    assert_eq!(uint("max(a, b)", &[u32::MAX, 1]), Value::U32(u32::MAX));
    assert_eq!(int("clamp(a, -2, 2)", -5), Value::I32(-2));
    assert_eq!(uint("clamp(a, b, c)", &[9, 2, 4]), Value::U32(4));
}

#[test]
fn bits() {
    assert_eq!(uint("countOneBits(a)", &[0xf0f0]), Value::U32(8));
    assert_eq!(uint("countLeadingZeros(a)", &[1]), Value::U32(31));
    assert_eq!(uint("countLeadingZeros(a)", &[0]), Value::U32(32));
    assert_eq!(uint("countTrailingZeros(a)", &[8]), Value::U32(3));
    assert_eq!(uint("reverseBits(a)", &[1]), Value::U32(1 << 31));
    assert_eq!(uint("firstTrailingBit(a)", &[8]), Value::U32(3));
    assert_eq!(uint("firstTrailingBit(a)", &[0]), Value::U32(u32::MAX));
    assert_eq!(uint("firstLeadingBit(a)", &[9]), Value::U32(3));
    assert_eq!(uint("firstLeadingBit(a)", &[0]), Value::U32(u32::MAX));
    assert_eq!(int("firstLeadingBit(a)", -1), Value::I32(-1));
    assert_eq!(int("firstLeadingBit(a)", -2), Value::I32(0));
    assert_eq!(int("firstLeadingBit(a)", 5), Value::I32(2));
    assert_eq!(int("firstLeadingBit(a)", i32::MIN), Value::I32(30));
    assert_eq!(
        uint("extractBits(a, b, c)", &[0xabcd_1234, 8, 8]),
        Value::U32(0x12)
    );
    assert_eq!(
        uint("extractBits(a, b, c)", &[0xabcd_1234, 0, 40]),
        Value::U32(0xabcd_1234)
    );
    assert_eq!(
        uint("extractBits(a, b, c)", &[0xabcd_1234, 40, 4]),
        Value::U32(0)
    );
    assert_eq!(
        uint("extractBits(a, b, c)", &[0xabcd_1234, 4, 0]),
        Value::U32(0)
    );
    assert_eq!(int("extractBits(a, 4u, 4u)", 0xf0), Value::I32(-1));
    assert_eq!(int("extractBits(a, 4u, 4u)", 0x70), Value::I32(7));
    assert_eq!(int("extractBits(a, 0u, 32u)", -5), Value::I32(-5));
    assert_eq!(
        uint("insertBits(a, b, 8u, 8u)", &[0xffff_ffff, 0x12]),
        Value::U32(0xffff_12ff)
    );
    assert_eq!(uint("insertBits(a, b, 0u, 32u)", &[1, 2]), Value::U32(2));
    assert_eq!(uint("insertBits(a, b, 32u, 1u)", &[1, 2]), Value::U32(1));
}

#[test]
fn geometry() {
    let a = f32s(&[1.0, 2.0, 2.0]);
    let b = f32s(&[4.0, 5.0, 6.0]);
    let of = |call: &str, result: &str| expression(&[a.clone(), b.clone()], result, call);
    assert_eq!(of("dot(a, b)", "f32"), Value::F32(26.0));
    assert_eq!(of("length(a)", "f32"), Value::F32(3.0));
    assert_eq!(
        of("distance(a, vec3(1.0, 5.0, 6.0))", "f32"),
        Value::F32(5.0)
    );
    assert_eq!(of("cross(a, b)", "vec3<f32>"), f32s(&[2.0, 2.0, -3.0]));
    assert_eq!(
        of("normalize(a)", "vec3<f32>"),
        f32s(&[1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0])
    );
    assert_eq!(
        of("reflect(a, vec3(0.0, 1.0, 0.0))", "vec3<f32>"),
        f32s(&[1.0, -2.0, 2.0])
    );
    assert_eq!(
        of("faceForward(a, b, b)", "vec3<f32>"),
        f32s(&[-1.0, -2.0, -2.0])
    );
    assert_eq!(of("faceForward(a, b, -b)", "vec3<f32>"), a);
    assert_eq!(of("mix(a, b, 0.5)", "vec3<f32>"), f32s(&[2.5, 3.5, 4.0]));
    // Straight through, and total reflection.
    let down = f32s(&[0.0, -1.0]);
    let through = expression(
        std::slice::from_ref(&down),
        "vec2<f32>",
        "refract(a, vec2(0.0, 1.0), 1.5)",
    );
    assert_eq!(through, down);
    let flat = f32s(&[1.0, 0.0]);
    let reflected = expression(&[flat], "vec2<f32>", "refract(a, vec2(0.0, 1.0), 1.5)");
    assert_eq!(reflected, f32s(&[0.0, 0.0]));
    let integers = expression(&[i32s(&[1, -2]), i32s(&[3, 4])], "i32", "dot(a, b)");
    assert_eq!(integers, Value::I32(-5));
    assert_eq!(
        uint("dot4U8Packed(a, b)", &[0x0102_03ff, 0x0101_0102]),
        Value::U32(516)
    );
    let signed = expression(
        &[Value::U32(0x0102_03ff), Value::U32(0x0101_0102)],
        "i32",
        "dot4I8Packed(a, b)",
    );
    assert_eq!(signed, Value::I32(4));
}

#[test]
fn decomposition() {
    let text = "fn f(x: f32) -> vec4<f32> {
        let m = modf(x); let e = frexp(x);
        return vec4(m.fract, m.whole, e.fract, f32(e.exp));
    }";
    assert_eq!(
        eval(text, &[Value::F32(-6.5)]),
        f32s(&[-0.5, -6.0, -0.8125, 3.0])
    );
    assert_eq!(eval(text, &[Value::F32(1.0)]), f32s(&[0.0, 1.0, 0.5, 1.0]));
    let tiny = f32::from_bits(1);
    assert_eq!(
        eval(text, &[Value::F32(tiny)]),
        f32s(&[tiny, 0.0, 0.5, -148.0])
    );
    let vectors = "fn f(v: vec2<f32>) -> vec2<f32> { return modf(v).fract + modf(v).whole; }";
    assert_eq!(eval(vectors, &[f32s(&[1.5, -2.25])]), f32s(&[1.5, -2.25]));
}

#[test]
fn packing() {
    let pack = |call: &str, v: Value| expression(&[v], "u32", call);
    let unpack = |call: &str, result: &str, v: u32| expression(&[Value::U32(v)], result, call);
    let v = f32s(&[0.0, 1.0, 0.5, -1.0]);
    assert_eq!(pack("pack4x8unorm(a)", v.clone()), Value::U32(0x0080_ff00));
    assert_eq!(pack("pack4x8snorm(a)", v), Value::U32(0x8140_7f00));
    let v = f32s(&[1.0, -1.0]);
    assert_eq!(pack("pack2x16unorm(a)", v.clone()), Value::U32(0x0000_ffff));
    assert_eq!(pack("pack2x16snorm(a)", v.clone()), Value::U32(0x8001_7fff));
    assert_eq!(pack("pack2x16float(a)", v), Value::U32(0xbc00_3c00));
    assert_eq!(
        pack("pack4xI8(a)", i32s(&[1, -1, 300, 4])),
        Value::U32(0x042c_ff01)
    );
    assert_eq!(
        pack("pack4xU8(a)", u32s(&[1, 2, 300, 4])),
        Value::U32(0x042c_0201)
    );
    assert_eq!(
        pack("pack4xI8Clamp(a)", i32s(&[1, -300, 300, 4])),
        Value::U32(0x047f_8001)
    );
    assert_eq!(
        pack("pack4xU8Clamp(a)", u32s(&[1, 2, 300, 4])),
        Value::U32(0x04ff_0201)
    );
    assert_eq!(
        unpack("unpack4x8unorm(a)", "vec4<f32>", 0xff00_3300),
        f32s(&[0.0, 0.2, 0.0, 1.0])
    );
    assert_eq!(
        unpack("unpack4x8snorm(a)", "vec4<f32>", 0x8081_7f00),
        f32s(&[0.0, 1.0, -1.0, -1.0])
    );
    assert_eq!(
        unpack("unpack2x16unorm(a)", "vec2<f32>", 0xffff_0000),
        f32s(&[0.0, 1.0])
    );
    assert_eq!(
        unpack("unpack2x16snorm(a)", "vec2<f32>", 0x8000_7fff),
        f32s(&[1.0, -1.0])
    );
    assert_eq!(
        unpack("unpack2x16float(a)", "vec2<f32>", 0xbc00_3c00),
        f32s(&[1.0, -1.0])
    );
    assert_eq!(
        unpack("unpack4xI8(a)", "vec4<i32>", 0x7f80_ff01),
        i32s(&[1, -1, -128, 127])
    );
    assert_eq!(
        unpack("unpack4xU8(a)", "vec4<u32>", 0x7f80_ff01),
        u32s(&[1, 255, 128, 127])
    );
}
