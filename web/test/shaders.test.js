// Every generated shader through Chromium's own compiler, which checks what
// naga does not: uniformity of control flow around barriers and subgroup
// operations, and the `enable` directives.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { serve, webgpu, withPage } from "./support.js";

let server;
before(async () => (server = await serve()));
after(() => server.close());

/** Compiles what the function `generate` gives in the page. */
function compileIn(name, generate) {
  const run = async (page) => {
    await page.addScriptTag({ type: "module", content: `
      import { compileAll } from "/test/compile.js";
      globalThis.compileAll = compileAll;
    ` });
    await page.waitForFunction(() => globalThis.compileAll);
    return generate(page);
  };
  return withPage({ name, flags: webgpu, address: `${server.address}test/blank.html` }, run);
}

test("every generated shader compiles without a word", { timeout: 1_800_000 }, async (t) => {
  const result = await compileIn("shaders", (page) =>
    page.evaluate(async () => {
      const { watchAdapter } = await import("/adapter.js");
      watchAdapter({ subgroups: true });
      const module = await import("/pkg/portcullis.js");
      await module.default();
      return compileAll(await module.shaders());
    }),
  );
  t.diagnostic(`${result.compiled} shaders compiled, with ${result.features.join(", ") || "no feature"}`);
  for (const { name, reason } of result.left_out) t.diagnostic(`${name} was left out: ${reason}`);
  const words = result.messages.map(({ name, kind, text }) => `${name}: ${kind}: ${text}`);
  assert.deepEqual(words, []);
  assert.ok(result.compiled > 0);
  assert.ok(result.features.includes("subgroups"), "this browser was to have subgroups");
});

test("a planted fault of each kind is reported", async () => {
  const shader = (name, text, subgroups = false) => ({ name, text, subgroups });
  const planted = [
    shader("sound", "@compute @workgroup_size(64) fn main() { workgroupBarrier(); }"),
    shader(
      "barrier in non-uniform control flow",
      `@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
        if i < 7u { workgroupBarrier(); }
      }`,
    ),
    shader(
      "subgroup operation in non-uniform control flow, as a warning",
      `enable subgroups;
      diagnostic(warning, subgroup_uniformity);
      @group(0) @binding(0) var<storage, read_write> data: array<u32>;
      @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
        if i < 7u { data[i] = subgroupAdd(i); }
      }`,
      true,
    ),
    shader("directive missing", "@compute @workgroup_size(64) fn main() { _ = subgroupAdd(1u); }"),
    shader("workgroup beyond the limit", "@compute @workgroup_size(4096) fn main() {}"),
  ];
  const generate = (page) => page.evaluate((shaders) => compileAll(shaders), planted);
  const { messages } = await compileIn("planted", generate);
  const named = new Set(messages.map((message) => message.name));
  assert.deepEqual([...named], planted.slice(1).map((shader) => shader.name));
});
