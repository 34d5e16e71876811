//! A machine that is set up for the tests must have the adapters that they
//! speak of: otherwise everything would pass on the CPU alone.

use portcullis::device::{AdapterIdentity, enumerate};

/// Names the adapters that must be there, separated by commas: each a part of
/// the name, backend or driver, or several joined by `+`; `cpu` is always there.
const VARIABLE: &str = "PORTCULLIS_REQUIRE_ADAPTERS";

/// The parts of `required` that no adapter has.
fn missing<'a>(required: &'a str, adapters: &[AdapterIdentity]) -> Vec<&'a str> {
    let has = |adapter: &AdapterIdentity, wanted: &str| {
        let all = format!("{} {} {}", adapter.name, adapter.backend, adapter.driver).to_lowercase();
        wanted
            .to_lowercase()
            .split('+')
            .all(|part| all.contains(part.trim()))
    };
    let required = required.split(',').map(str::trim).filter(|r| !r.is_empty());
    required
        .filter(|r| *r != "cpu" && !adapters.iter().any(|a| has(a, r)))
        .collect()
}

#[test]
fn required_adapters_are_there() {
    let adapters: Vec<AdapterIdentity> = pollster::block_on(enumerate())
        .into_iter()
        .map(|entry| entry.identity)
        .collect();
    for adapter in &adapters {
        println!("{adapter} {}", adapter.driver);
    }
    let required = std::env::var(VARIABLE).unwrap_or_default();
    let missing = missing(&required, &adapters);
    assert!(
        missing.is_empty(),
        "{VARIABLE}: not found: {missing:?}; there are {adapters:?}"
    );
}

#[test]
fn an_adapter_that_is_not_there_is_missed() {
    let gl = AdapterIdentity {
        name: "llvmpipe (LLVM 19)".into(),
        backend: "gl".into(),
        driver: "Mesa".into(),
        kind: "cpu".into(),
    };
    let adapters = [gl];
    assert_eq!(missing("cpu, llvmpipe+gl,", &adapters), [""; 0]);
    assert_eq!(
        missing("LLVMpipe+vulkan, swiftshader, cpu", &adapters),
        ["LLVMpipe+vulkan", "swiftshader"]
    );
}
