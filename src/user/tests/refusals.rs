//! Errors and their exact places.

use super::super::{Interpreter, UserModule};
use super::error_of;
use crate::error::Error;

#[track_caller]
fn refused(text: &str, line: u32, column: u32, part: &str) {
    let (found_line, found_column, message) = error_of(text, "struct Element { key: u32 }");
    assert_eq!((found_line, found_column), (line, column), "{message}");
    assert!(message.contains(part), "{message}");
    assert!(!message.contains('\n'), "{message}");
}

#[test]
fn syntax_and_type_errors() {
    refused("fn f() -> f32 {\n  return 1.0\n}", 3, 1, "expected");
    refused(
        "fn f() -> f32 {\n  return x;\n}",
        2,
        10,
        "no definition in scope for identifier: `x`",
    );
    refused("fn f(a: f32) -> f32 {\n  return a + 1u;\n}", 2, 10, "");
    refused("fn f(a: f32) -> i32 {\n  return a;\n}", 2, 3, "");
    refused(
        "fn f(a: f32) -> f32 {\n  let b = 1.0;\n  b = a;\n  return b;\n}",
        3,
        3,
        "cannot assign",
    );
    refused(
        "fn f(a: f32) -> f32 {\n  return cross(vec2(a), vec2(a)).x;\n}",
        2,
        10,
        "note: ",
    );
    refused(
        "fn f() -> f32 { return g(); }\nfn g() -> f32 { return f(); }",
        2,
        4,
        "cyclic",
    );
    refused("fn f(a: f33) -> f32 { return 1.0; }", 1, 9, "f33");
    refused("const x = 1 / 0;", 1, 11, "");
}

#[test]
fn columns_count_characters() {
    refused("/* αβγ */ fn f() -> f32 { return δ; }", 1, 34, "");
}

#[test]
fn errors_past_the_text() {
    // The redefinition is found in the prelude, but the text is to blame.
    refused("\nstruct Element { a: f32 }\n", 2, 8, "Element");
    let (line, column, message) = error_of("fn f() { }\n\n", "struct Element { a: f33 }");
    assert_eq!((line, column), (2, 1));
    assert!(message.contains("added after the text"), "{message}");
}

#[test]
fn brackets_and_comments() {
    refused("fn f() {\n  if true {\n}", 1, 8, "`{` is never closed");
    refused("fn f() { (] }", 1, 11, "`]` does not close `(`");
    refused("fn f() { } }", 1, 12, "`}` closes nothing");
    refused("fn f() { }\n  /* /* */", 2, 3, "never closed");
    refused("#define X 1", 1, 1, "preprocessor");
    assert!(UserModule::parse("// }\n/* { /* ( */ */ fn f() { } // {", "").is_ok());
}

#[test]
fn declarations() {
    refused("enable f16;", 1, 1, "`enable`");
    refused("\n requires pointer_composite_access;", 2, 2, "`requires`");
    refused(
        "diagnostic(off, derivative_uniformity);",
        1,
        1,
        "`diagnostic`",
    );
    refused(
        "@diagnostic(off, derivative_uniformity) fn f() { }",
        1,
        2,
        "`@diagnostic`",
    );
    refused(
        "fn f() { }\nvar<private> x: i32;",
        2,
        1,
        "module-scope variables",
    );
    refused("var<workgroup> x: i32;", 1, 1, "module-scope variables");
    refused(
        "@group(0) @binding(0) var<storage> x: i32;",
        1,
        2,
        "`@group`",
    );
    refused("override x = 1;", 1, 1, "`override`");
    refused("@id(1) override x = 1;", 1, 2, "`@id`");
    refused(
        "@compute @workgroup_size(1) fn f() { }",
        1,
        2,
        "entry points",
    );
    refused("\n@fragment fn f() { }", 2, 2, "entry points");
    refused("const_assert true;", 1, 1, "`const_assert`");
    refused("fn f() {\n  const_assert true;\n}", 2, 3, "`const_assert`");
    assert!(
        UserModule::parse(
            "@must_use fn f(enabled: f32) -> f32 { return enabled; }",
            ""
        )
        .is_ok()
    );
    assert!(UserModule::parse("struct S { @size(16) a: f32, @align(16) b: u32 }", "").is_ok());
}

#[test]
fn statements_and_expressions() {
    refused("fn f() {\n  workgroupBarrier();\n}", 2, 3, "barriers");
    refused("fn f() {\n  storageBarrier();\n}", 2, 3, "barriers");
    refused(
        "fn f() {\n  if true { textureBarrier(); }\n}",
        2,
        13,
        "barriers",
    );
    refused("fn f() {\n  discard;\n}", 2, 3, "`discard`");
    refused(
        "fn f(x: f32) -> f32 {\n  return dpdx(x);\n}",
        2,
        10,
        "derivatives",
    );
    refused(
        "fn f(x: f32) -> f32 {\n  return subgroupAdd(x);\n}",
        2,
        10,
        "",
    );
    refused(
        "fn g() { }\nfn f(p: ptr<workgroup, atomic<u32>>) { }",
        2,
        1,
        "atomics",
    );
    refused("fn f(p: ptr<private, u32>) { }", 1, 1, "pointers");
    refused("fn f(t: texture_2d<f32>) { }", 1, 1, "textures");
    refused("fn f(t: sampler) { }", 1, 1, "textures and samplers");
    refused(
        "fn f() { }\nfn g(p: ptr<storage, array<u32>>) -> u32 { return arrayLength(p); }",
        2,
        1,
        "",
    );
}

#[test]
fn wide_and_narrow_types() {
    refused("\nfn f(x: f64) { }", 2, 1, "f64");
    refused("fn f() {\n  var x: i64;\n}", 2, 3, "i64");
    refused(
        "fn f(x: f32) -> f32 {\n  return f32(f64(x));\n}",
        2,
        14,
        "64 bits",
    );
    refused(
        "fn f() -> f32 {\n  let x = 1.0lf; return 1.0;\n}",
        2,
        11,
        "64 bits",
    );
    refused("fn f(x: f16) { }", 1, 9, "f16");
}

#[test]
fn types_that_are_too_large() {
    refused(
        "fn f() {\n  var x: array<f32, 100000>;\n}",
        2,
        3,
        "100000 words",
    );
    let deep = (1..20).fold("alias A0 = array<f32, 1>;".to_string(), |text, i| {
        format!("{text}\nalias A{i} = array<A{}, 1>;", i - 1)
    });
    let (_, _, message) = error_of(&deep, "");
    assert!(message.contains("nested more than 15 deep"), "{message}");
}

#[test]
fn operators_may_not_take_pointers() {
    let module =
        UserModule::parse("\nfn f(p: ptr<function, f32>) -> f32 { return *p; }", "").unwrap();
    let signature = module.signature("f").unwrap();
    let handle = module
        .require(
            "f",
            &[signature.arguments[0].1.clone()],
            &signature.result.unwrap(),
        )
        .unwrap();
    match Interpreter::new(&module, handle) {
        Err(Error::Wgsl {
            line: 2,
            column: 1,
            message,
        }) => {
            assert!(message.contains("pointers"), "{message}");
        }
        other => panic!("{other:?}"),
    }
}
