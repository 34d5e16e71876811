//! Generates the JavaScript beside a compiled wasm module, as `wasm-bindgen
//! --target web` does. A program of this workspace instead of that tool, so
//! that its version is in the lock file and cannot differ from the module's.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder] = &arguments[..] else {
        return Err("usage: portcullis-web-bindgen MODULE.wasm FOLDER".into());
    };
    let mut bindgen = wasm_bindgen_cli_support::Bindgen::new();
    bindgen
        .input_path(module)
        .out_name("portcullis")
        .typescript(false)
        .omit_default_module_path(false)
        .web(true)?
        .generate(folder)?;
    Ok(())
}
