//! Texts made to break things must end in a typed error, soon.

use super::super::{Interpreter, Type, UserModule};
use super::{error_of, interpreter};
use crate::error::Error;

fn refused(text: &str, part: &str) {
    let (_, _, message) = error_of(text, "");
    assert!(message.contains(part), "{message}");
}

/// Parses and compiles, and only must not panic or hang.
fn survives(text: &str) {
    let Ok(module) = UserModule::parse(text, "") else {
        return;
    };
    if let Ok(f) = module.require("f", &[Type::F32], &Type::F32)
        && let Ok(f) = Interpreter::new(&module, f)
    {
        let _ = f.call(&[super::Value::F32(0.5)]);
    }
}

fn returning(expression: &str) -> String {
    format!("fn f(a: f32) -> f32 {{ return {expression}; }}")
}

#[test]
fn empty_texts() {
    for text in ["", " ", "\n", ";;;", "// nothing", "/* */"] {
        assert!(UserModule::parse(text, "").is_ok(), "{text:?}");
    }
}

#[test]
fn long_texts() {
    let long = " ".repeat((1 << 20) + 1);
    assert!(matches!(
        UserModule::parse(&long, ""),
        Err(Error::Limit { .. })
    ));
    assert!(UserModule::parse(&long[1..], "").is_ok());
}

#[test]
fn nesting() {
    let nested = |open: &str, close: &str, n: usize| {
        returning(&format!("{}a{}", open.repeat(n), close.repeat(n)))
    };
    refused(&nested("(", ")", 10_000), "nested more than 256 deep");
    refused(&nested("abs(", ")", 10_000), "nested more than 256 deep");
    refused(&nested("-", "", 10_000), "chained more than");
    refused(&nested("!", "", 10_000), "chained more than");
    refused(&nested("", " + a", 10_000), "chained more than");
    refused(&nested("", "[0]", 10_000), "chained more than");
    refused(&nested("", ".x", 10_000), "chained more than");
    refused(&nested("a && ", "", 10_000), "chained more than");
    refused(&"{".repeat(10_000), "nested more than 256 deep");
    refused(
        &format!("fn f() {{ {} }}", "if true { } else ".repeat(10_000)),
        "chained more than",
    );
    refused(&"fn f() { } ".repeat(10_000), "declarations");
    // Just within the limits.
    for text in [
        nested("(", ")", 250),
        nested("-", "", 500),
        nested("", " + a", 500),
        nested("", "[0]", 500),
        nested("a * (1.0 + ", ")", 120),
        format!(
            "fn f(a: f32) -> f32 {{ if a > 9.0 {{ }} {} return a; }}",
            "else if a > 1.0 { } ".repeat(250)
        ),
        format!(
            "fn f(a: f32) -> f32 {{ {} {} return a; }}",
            "{".repeat(120),
            "}".repeat(120)
        ),
        format!(
            "fn f(a: {}f32{}) -> f32 {{ return 1.0; }}",
            "array<".repeat(190),
            ", 1>".repeat(190)
        ),
        "(".into(),
        "fn".into(),
        "fn f(".into(),
        "@".into(),
        "fn f() { let x = \u{0}; }".into(),
        "fn f() { a<b<c<d<e<f; }".into(),
        "\u{feff}fn f() { }".into(),
    ] {
        survives(&text);
    }
}

#[test]
fn long_functions() {
    let function = |n| {
        let statements = "_ = a > 0.0 && a > 1.0; ".repeat(n);
        format!("fn f(a: f32) -> f32 {{ {statements} return a; }}")
    };
    survives(&function(1000));
    refused(&function(7000), "longer than 65536 tokens");
}

#[test]
fn long_names_make_no_long_messages() {
    let (_, _, message) = error_of(&returning(&"x".repeat(1 << 19)), "");
    assert!(message.len() < 2100);
}

#[test]
fn chains_of_declarations() {
    let calls = (1..2000).fold(
        "fn g0(a: f32) -> f32 { return a; }".to_string(),
        |text, i| text + &format!("fn g{i}(a: f32) -> f32 {{ return g{}(a); }}", i - 1),
    );
    survives(&format!(
        "{calls} fn f(a: f32) -> f32 {{ return g1999(a); }}"
    ));
    // The same, last first.
    let calls = (1..2000).fold(String::new(), |text, i| {
        text + &format!("fn g{i}(a: f32) -> f32 {{ return g{}(a); }}", i + 1)
    });
    survives(&format!(
        "fn f(a: f32) -> f32 {{ return g1(a); }} {calls} fn g2000(a: f32) -> f32 {{ return a; }}"
    ));
}

#[test]
fn exponential_inlining() {
    for leaf in ["fn g0() { }", "fn g0() { var x = 1; x++; }"] {
        let text = (1..40).fold(leaf.to_string(), |text, i| {
            text + &format!("fn g{i}() {{ g{0}(); g{0}(); }}", i - 1)
        });
        let text = format!("{text} fn f() -> f32 {{ g39(); return 1.0; }}");
        match interpreter(&text, "f") {
            Err(Error::Wgsl { .. }) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn exponential_types() {
    let text = (1..40).fold("struct S0 { a: f32 }".to_string(), |text, i| {
        text + &format!("struct S{i} {{ a: S{0}, b: S{0} }}", i - 1)
    });
    refused(&text, "");
}

#[test]
fn much_to_copy() {
    let text = format!(
        "fn f() -> f32 {{ var x: array<f32, 20000>; var y = x; {} return x[1]; }}",
        "y = x; x = y; ".repeat(2000)
    );
    match interpreter(&text, "f") {
        Err(Error::Wgsl { .. }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn large_but_honest_texts() {
    let statements = "x = x * 1.5 + sin(x); ".repeat(2000);
    let text = format!("fn f(a: f32) -> f32 {{ var x = a; {statements} return x; }}");
    assert!(interpreter(&text, "f").is_ok());
    let table: Vec<String> = (0..5000).map(|i| format!("-{i}.5")).collect();
    let text = format!(
        "const T = array<f32, 5000>({}); fn f(i: u32) -> f32 {{ return T[i]; }}",
        table.join(", ")
    );
    let f = interpreter(&text, "f").unwrap();
    assert_eq!(
        f.call(&[super::Value::U32(4321)]),
        Ok(super::Value::F32(-4321.5))
    );
}
