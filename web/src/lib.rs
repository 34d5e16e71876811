//! The gates in a web page: what `index.html` and the browser tests call.
#![cfg(target_arch = "wasm32")]

use std::cell::OnceCell;
use std::collections::HashSet;

use js_sys::{Array, Date, Function, JSON, Object, Promise, Reflect};
use portcullis::gate::{Effort, Row, Selection, error_row, plans, sweep_cpu, sweep_gpu};
use portcullis::{Capabilities, Device, Policy, Selector};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn log_error(message: &str);
}

thread_local! {
    // One device for all calls of a page, so that kernels are compiled once.
    static DEVICE: OnceCell<Device> = const { OnceCell::new() };
}

/// Makes a panic say where it happened, instead of `unreachable executed`.
#[wasm_bindgen(start)]
fn start() {
    std::panic::set_hook(Box::new(|panic| log_error(&panic.to_string())));
}

async fn device() -> Result<Device, JsValue> {
    if let Some(device) = DEVICE.with(|cell| cell.get().cloned()) {
        return Ok(device);
    }
    let device = Device::with(&Selector::Best, Policy::default())
        .await
        .map_err(to_js)?;
    Ok(DEVICE.with(|cell| cell.get_or_init(|| device).clone()))
}

fn to_js(error: portcullis::Error) -> JsValue {
    js_sys::Error::new(&error.to_string()).into()
}

fn set(object: &Object, key: &str, value: impl Into<JsValue>) -> Result<(), JsValue> {
    Reflect::set(object, &key.into(), &value.into()).map(|_| ())
}

/// Where operations run: `{adapter, driver, subgroups, notice}`. `adapter` is
/// null where there is none, and `notice` then says why the CPU is used.
#[wasm_bindgen]
pub async fn describe() -> Result<Object, JsValue> {
    let device = device().await?;
    let description = Object::new();
    let capabilities = device.gpu().map(|gpu| gpu.capabilities());
    let subgroups = capabilities.and_then(|c| c.subgroups);
    set(
        &description,
        "adapter",
        capabilities.map(|c| c.identity.to_string()),
    )?;
    set(
        &description,
        "driver",
        capabilities.map(|c| c.identity.driver.clone()),
    )?;
    set(
        &description,
        "subgroups",
        subgroups.map(|sizes| format!("{} to {}", sizes.min, sizes.max)),
    )?;
    set(&description, "notice", device.notice())?;
    Ok(description)
}

/// Runs problems of every registered operation, for each dtype and variant, on
/// the browser's GPU and on the CPU, and gives the rows of the report.
///
/// Options, all optional: `effort` (`quick` or `standard`), `operations` (names
/// or families; a name may end in `*`), `progress` (called with problems done,
/// problems in all and the newest rows).
#[wasm_bindgen]
pub async fn gate(options: &JsValue) -> Result<Array, JsValue> {
    let option = |name: &str| match options.is_object() {
        true => Reflect::get(options, &name.into()),
        false => Ok(JsValue::UNDEFINED),
    };
    let effort = option("effort")?.as_string();
    let mut selection = Selection::all(match effort.as_deref() {
        None | Some("quick") => Effort::Quick,
        Some("standard") => Effort::Standard,
        Some(other) => {
            let message = format!("effort `{other}`: there are quick and standard");
            return Err(js_sys::Error::new(&message).into());
        }
    });
    let operations = option("operations")?;
    if operations.is_truthy() {
        let names = Array::from(&operations);
        selection.operations = names.iter().filter_map(|name| name.as_string()).collect();
    }
    let progress = option("progress")?.dyn_into::<Function>().ok();

    let device = device().await?;
    let items = selection.items().map_err(to_js)?;
    let all = Array::new();
    let mut breath = Date::now();
    for (done, item) in items.iter().enumerate() {
        let rows: Vec<Row> = match item.build() {
            Ok(instance) => {
                let mut rows = sweep_cpu(&instance, &selection);
                if let Some(gpu) = device.gpu() {
                    rows.extend(sweep_gpu(gpu, &instance, &selection).await);
                }
                rows
            }
            Err(error) => {
                let (op, dtype) = (item.operation.signature().name, item.dtype.name());
                vec![error_row(op, &item.problem.name, dtype, "", &error)]
            }
        };
        let newest = Array::new();
        for row in rows {
            let row = JSON::parse(&row.to_json().to_string())?;
            newest.push(&row);
            all.push(&row);
        }
        if let Some(progress) = &progress {
            let (done, total) = (done as u32 + 1, items.len() as u32);
            progress.call3(&JsValue::NULL, &done.into(), &total.into(), &newest)?;
        }
        // The CPU twins do not await anything: without a pause the page would freeze.
        if Date::now() - breath > 30.0 {
            pause().await?;
            breath = Date::now();
        }
    }
    Ok(all)
}

/// Resolves after the browser had time to draw and to answer its user.
async fn pause() -> Result<(), JsValue> {
    let set_timeout = Reflect::get(&js_sys::global(), &"setTimeout".into())?;
    let set_timeout: Function = set_timeout.dyn_into()?;
    let promise = Promise::new(&mut |resolve, _| {
        // The promise of a timer that could not be set never resolves: that cannot happen here.
        let _ = set_timeout.call2(&JsValue::UNDEFINED, &resolve, &0.into());
    });
    JsFuture::from(promise).await.map(|_| ())
}

/// Every WGSL text that quick and standard problems compile, once each, as
/// `{name, subgroups, text}`: planned for this browser's device (for a device
/// of WebGPU's default limits where there is none), with subgroups and without.
#[wasm_bindgen]
pub async fn shaders() -> Result<Array, JsValue> {
    let device = device().await?;
    let own = match device.gpu() {
        Some(gpu) => gpu.capabilities().clone(),
        None => Capabilities {
            browser: true,
            ..Capabilities::baseline()
        },
    };
    let without = Capabilities {
        subgroups: None,
        ..own.clone()
    };
    let mut seen = HashSet::new();
    let all = Array::new();
    for capabilities in [own, without] {
        for effort in [Effort::Quick, Effort::Standard] {
            let selection = Selection::all(effort);
            for planned in plans(&capabilities, &selection).map_err(to_js)? {
                let name = planned.to_string();
                // A variant that such a device cannot run has no shaders.
                let steps = planned.plan.map_or_else(|_| Vec::new(), |plan| plan.steps);
                for step in steps {
                    let text = step.kernel.link(true).map_err(to_js)?.text;
                    if seen.contains(&text) {
                        continue;
                    }
                    let shader = Object::new();
                    set(
                        &shader,
                        "name",
                        format!("{}.wgsl of {name}", step.kernel.root),
                    )?;
                    set(&shader, "subgroups", step.kernel.uses_subgroups())?;
                    set(&shader, "text", &*text)?;
                    all.push(&shader);
                    seen.insert(text);
                }
            }
        }
    }
    Ok(all)
}
