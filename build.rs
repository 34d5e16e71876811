//! Lists every file under `shaders/`, so that the crate embeds them all by name.

use std::fmt::Write as _;
use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=shaders");
    let mut files = Vec::new();
    collect(Path::new("shaders"), &mut files);
    files.sort();
    let mut code = String::from("static SHADERS: &[(&str, &str, &str)] = &[\n");
    let root = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    for file in &files {
        let name = file
            .trim_start_matches("shaders/")
            .trim_end_matches(".wgsl");
        let path = Path::new(&root).join(file);
        writeln!(code, "    ({name:?}, {file:?}, include_str!({path:?})),")
            .expect("strings take all");
    }
    code.push_str("];\n");
    let out = std::env::var("OUT_DIR").expect("cargo sets it");
    std::fs::write(Path::new(&out).join("shaders.rs"), code).expect("OUT_DIR is writable");
}

fn collect(folder: &Path, files: &mut Vec<String>) {
    println!("cargo:rerun-if-changed={}", folder.display());
    for entry in std::fs::read_dir(folder).expect("shaders/ is part of the package") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "wgsl") {
            files.push(path.to_string_lossy().replace('\\', "/"));
        }
    }
}
