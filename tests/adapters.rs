//! A machine that is set up for the tests must have the adapters that they
//! speak of: otherwise everything would pass on the CPU alone.

use portcullis::device::{AdapterIdentity, enumerate};

/// Names the adapters that must be there, separated by commas, as `BACKEND:NAME`
/// with any part of the name: `vulkan:llvmpipe,gl:,cpu`. `cpu` is always there.
const VARIABLE: &str = "PORTCULLIS_REQUIRE_ADAPTERS";

/// The parts of `required` that no adapter has.
fn missing<'a>(required: &'a str, adapters: &[AdapterIdentity]) -> Vec<&'a str> {
    let has = |adapter: &AdapterIdentity, wanted: &str| {
        let (backend, name) = wanted.split_once(':').unwrap_or(("", wanted));
        let name = name.to_lowercase();
        adapter.backend == backend && adapter.name.to_lowercase().contains(&name)
    };
    let required = required.split(',').map(str::trim);
    required
        .filter(|r| !["", "cpu"].contains(r) && !adapters.iter().any(|a| has(a, r)))
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
    assert_eq!(missing("cpu, gl:LLVMpipe, gl:,", &adapters), [""; 0]);
    let wanted = "vulkan:llvmpipe, gl:llvmpipe, swiftshader, cpu";
    assert_eq!(
        missing(wanted, &adapters),
        ["vulkan:llvmpipe", "swiftshader"]
    );
}
