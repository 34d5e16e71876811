//! Signatures, requirements, and what may run without checks.

use super::super::{Interpreter, ScalarType, Type, UserModule, Value};
use crate::error::{Error, Result};

const PRELUDE: &str = "struct Element { key: u32, value: vec2<f32> }";

fn element() -> Type {
    Type::Struct {
        name: "Element".into(),
        fields: vec![
            ("key".into(), Type::U32),
            ("value".into(), Type::Vector(2, ScalarType::F32)),
        ],
    }
}

fn refusal(result: Result<super::super::FunctionHandle>) -> (u32, u32, String) {
    match result {
        Err(Error::Wgsl {
            line,
            column,
            message,
        }) => (line, column, message),
        other => panic!("{other:?}"),
    }
}

#[test]
fn operators_on_a_struct_of_the_prelude() {
    let text = "fn combine(a: Element, b: Element) -> Element {
        if b.key > a.key { return b; }
        return Element(a.key, a.value + b.value);
    }";
    let module = UserModule::parse(text, PRELUDE).unwrap();
    let combine = module
        .require("combine", &[element(), element()], &element())
        .unwrap();
    let f = Interpreter::new(&module, combine).unwrap();
    let value = |key, x, y| {
        Value::Composite(vec![
            Value::U32(key),
            Value::Composite(vec![Value::F32(x), Value::F32(y)]),
        ])
    };
    let of = |a, b| f.call(&[a, b]);
    assert_eq!(
        of(value(1, 1.0, 2.0), value(2, 3.0, 4.0)),
        Ok(value(2, 3.0, 4.0))
    );
    assert_eq!(
        of(value(2, 1.0, 2.0), value(2, 3.0, 4.0)),
        Ok(value(2, 4.0, 6.0))
    );
    assert!(module.is_bounded());
}

#[test]
fn signatures_are_described() {
    let module = UserModule::parse(
        "alias Row = array<f32, 4>;
         fn f(a: Row, m: mat2x3<f32>, p: ptr<function, bool>, e: Element) -> vec3<i32> { return vec3(0); }
         fn g() { }",
        PRELUDE,
    )
    .unwrap();
    let signature = module.signature("f").unwrap();
    assert_eq!(
        signature.declaration("f"),
        "f(a: array<f32, 4>, m: mat2x3<f32>, p: ptr<function, bool>, e: Element) -> vec3<i32>"
    );
    let words: Vec<usize> = signature
        .arguments
        .iter()
        .map(|(_, ty)| ty.words())
        .collect();
    assert_eq!(words, [4, 6, 1, 3]);
    assert_eq!(signature.arguments[3].1, element());
    assert_eq!(module.signature("g").unwrap().declaration("g"), "g()");
    assert_eq!(module.signature("h"), None);
}

#[test]
fn requirements() {
    let module = UserModule::parse(
        "// A comment.\nfn combine(x: f32, y: i32) -> f32 { return x; }\n  fn map(x: f32) { }",
        "",
    )
    .unwrap();
    let pair = [Type::F32, Type::F32];
    assert_eq!(
        refusal(module.require("reduce", &pair, &Type::F32)),
        (
            1,
            1,
            "there must be a function `reduce(a: f32, b: f32) -> f32`".into()
        )
    );
    assert_eq!(
        refusal(module.require("combine", &pair, &Type::F32)),
        (
            2,
            1,
            "there must be a function `combine(a: f32, b: f32) -> f32`; this one is `combine(x: f32, y: i32) -> f32`"
                .into()
        )
    );
    let (line, column, message) = refusal(module.require("map", &[Type::F32], &Type::F32));
    assert_eq!((line, column), (3, 3));
    assert!(message.ends_with("this one is `map(x: f32)`"), "{message}");
    assert!(
        module
            .require("combine", &[Type::F32, Type::I32], &Type::F32)
            .is_ok()
    );
}

#[test]
fn a_function_of_another_module_is_refused() {
    let big = UserModule::parse(
        "fn g() -> f32 { return 1.0; } fn f() -> f32 { return 2.0; }",
        "",
    );
    let big = big.unwrap();
    let f = big.require("f", &[], &Type::F32).unwrap();
    let small = UserModule::parse("const X = 1;", "").unwrap();
    assert!(matches!(
        Interpreter::new(&small, f),
        Err(Error::Wgsl { .. })
    ));
}

#[test]
fn bounded_texts() {
    for text in [
        "",
        "fn f(a: f32, b: f32) -> f32 { return max(a, b); }",
        "fn f(a: vec4<f32>) -> f32 { var v = a; v.x += v[3]; v[1] = 2.0; return v.y; }",
        "fn f(a: i32) -> i32 { switch a { case 1: { return 2; } default: { return a; } } }",
        "const T = array(1, 2); fn f(a: i32) -> i32 { return T[1] + a; }",
        "fn f(a: f32) -> f32 { var x = a; let p = &x; *p += 1.0; return x; }",
    ] {
        assert!(UserModule::parse(text, "").unwrap().is_bounded(), "{text}");
    }
    for text in [
        "fn f(a: f32) -> f32 { var x = a; while x > 1.0 { x *= 0.5; } return x; }",
        "fn f(a: i32) -> i32 { if a > 0 { loop { break; } } return a; }",
        "fn f(a: i32) -> i32 { switch a { case 1: { for (;;) { break; } } default: { } } return a; }",
        "fn f(a: vec4<f32>, i: i32) -> f32 { return a[i]; }",
        "fn f(i: i32) -> f32 { var a: array<f32, 4>; a[i] = 1.0; return a[0]; }",
        "fn g(p: ptr<function, f32>) { *p = 1.0; } fn f(a: f32) -> f32 { var x = a; g(&x); return x; }",
    ] {
        assert!(!UserModule::parse(text, "").unwrap().is_bounded(), "{text}");
    }
}

#[test]
fn interpreters_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Interpreter>();
    shared::<UserModule>();
}
