// Runs the gate and shows its rows as they come.
//
// Page parameters: `subgroups=0` leaves subgroups alone, `effort=standard` runs
// more problems, `op=NAME` (may be repeated; may end in `*`) runs only those operations.
import { watchAdapter } from "./adapter.js";
import initialise, { describe, gate, shaders } from "./pkg/portcullis.js";

const parameters = new URLSearchParams(location.search);
const element = (id) => document.getElementById(id);
const counts = { pass: 0, fail: 0, error: 0, unsupported: 0 };

// For the console and for tests: the state of the run, the rows so far, and the generated shaders.
const run = { state: "running", description: null, rows: [], counts, problem: null, shaders };
globalThis.portcullis = run;

function add(parent, tag, text, className) {
  const child = document.createElement(tag);
  child.textContent = text;
  if (className) child.className = className;
  parent.append(child);
  return child;
}

// Numbers come as numbers, "inf" or "nan".
function number(value) {
  if (typeof value !== "number") return value;
  return value === 0 ? "0" : value.toPrecision(3);
}

function show(row) {
  counts[row.status] += 1;
  const line = add(element("rows"), "tr", "", row.status);
  for (const text of [row.op, row.case, row.dtype, row.variant, row.status]) add(line, "td", text);
  for (const key of ["bound_ratio", "max_ulp", "max_abs", "max_rel"]) {
    add(line, "td", row.status === "pass" || row.status === "fail" ? number(row[key]) : "", "number");
  }
  add(line, "td", row.note);
}

function summarise() {
  element("summary").textContent =
    `${counts.pass} passed, ${counts.fail} failed, ${counts.error} errors, ${counts.unsupported} unsupported`;
}

function progress(done, total, rows) {
  run.rows.push(...rows);
  for (const row of rows) show(row);
  element("progress").max = total;
  element("progress").value = done;
  element("state").textContent = `${done} of ${total} problems`;
  summarise();
}

// Why there is no GPU, as far as a page can tell.
function absence() {
  if (!navigator.gpu) {
    return isSecureContext
      ? "This browser has no WebGPU, or has it switched off."
      : "WebGPU needs a page served over https or from localhost.";
  }
  return "This browser has WebGPU, but no adapter of this machine that it would use.";
}

function finish(state) {
  run.state = state;
  document.body.dataset.state = state;
  element("progress").hidden = true;
}

function fail(problem) {
  run.problem = String(problem?.stack ?? problem);
  element("state").textContent = `Stopped: ${problem}`;
  element("state").className = "fail";
  finish("stopped");
}

// A panic in the module leaves promises that never resolve: only these tell.
addEventListener("error", (event) => fail(event.error ?? event.message));
addEventListener("unhandledrejection", (event) => fail(event.reason));

element("failures").addEventListener("change", (event) => {
  element("table").classList.toggle("failures", event.target.checked);
});

watchAdapter({ subgroups: parameters.get("subgroups") !== "0" });
await initialise();
const description = (run.description = await describe());
if (description.adapter) {
  const subgroups = description.subgroups
    ? `subgroups of ${description.subgroups} invocations`
    : "no subgroups";
  element("device").textContent = `${[description.adapter, description.driver].filter(Boolean).join(", ")}; ${subgroups}`;
} else {
  element("device").textContent = "CPU";
  element("notice").textContent = `${absence()} Everything runs on the CPU. (${description.notice})`;
  element("notice").hidden = false;
}
const start = performance.now();
await gate({
  effort: parameters.get("effort") ?? "quick",
  operations: parameters.getAll("op"),
  progress,
});
const seconds = ((performance.now() - start) / 1000).toFixed(1);
const good = counts.fail + counts.error === 0 && counts.pass > 0;
element("state").textContent = `${good ? "Everything held" : "The gate failed"}, after ${seconds} s`;
element("state").className = good ? "pass" : "fail";
finish(good ? "passed" : "failed");
