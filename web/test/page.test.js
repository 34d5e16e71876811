// The page as a visitor sees it: with WebGPU and subgroups, without subgroups, without WebGPU.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { noAdapter, serve, webgpu, withPage } from "./support.js";

let server;
before(async () => (server = await serve()));
after(() => server.close());

const timeout = 900_000;

/** Opens the page, waits for the gate to end and gives what it found. */
function gate({ query = "", ...options }, look = async () => {}) {
  return withPage({ ...options, address: `${server.address}${query}` }, async (page) => {
    await page.waitForFunction(() => document.body.dataset.state, null, { timeout });
    const found = await page.evaluate(() => {
      const { state, description, rows, problem } = globalThis.portcullis;
      return { state, description, rows, problem };
    });
    assert.equal(found.problem, null);
    const bad = found.rows.filter((row) => row.status !== "pass" && row.status !== "unsupported");
    assert.deepEqual(bad, []);
    for (const row of found.rows) {
      assert.ok(row.status === "pass" || row.note !== "", `no reason given: ${JSON.stringify(row)}`);
    }
    assert.equal(found.state, "passed");
    assert.equal(await page.locator("#rows tr").count(), found.rows.length);
    await look(page);
    return found;
  });
}

const passed = (found, variant) => found.rows.filter((row) => row.variant === variant && row.status === "pass");

test("with WebGPU and subgroups every variant passes", { timeout }, async (t) => {
  const found = await gate({ name: "subgroups", flags: webgpu }, async (page) => {
    assert.equal(await page.locator("#notice").isVisible(), false);
    assert.match(await page.locator("#device").textContent(), /swiftshader \[browser\]; subgroups of 4/);
    assert.match(await page.locator("#state").textContent(), /Everything held/);
  });
  t.diagnostic(`${found.rows.length} rows on ${found.description.adapter}`);
  for (const variant of ["cpu", "portable", "subgroup"]) {
    assert.ok(passed(found, variant).length > 0, `no row of ${variant} passed`);
  }
});

test("without subgroups the portable variants pass, and the page says why not the others", { timeout }, async () => {
  const found = await gate({ name: "no-subgroups", flags: webgpu, query: "?subgroups=0" });
  assert.equal(found.description.subgroups, undefined);
  assert.ok(passed(found, "portable").length > 0);
  assert.deepEqual(passed(found, "subgroup"), []);
});

test("without WebGPU the CPU does everything, and the page says so", { timeout }, async () => {
  // As in a browser that never heard of it.
  const prepare = () => delete Navigator.prototype.gpu;
  const found = await gate({ name: "no-webgpu", flags: webgpu, prepare }, async (page) => {
    assert.equal(await page.locator("#device").textContent(), "CPU");
    assert.match(await page.locator("#notice").textContent(), /no WebGPU.*CPU/);
    assert.equal(await page.locator("#notice").isVisible(), true);
  });
  for (const key of ["variant", "adapter"]) {
    assert.deepEqual(new Set(found.rows.map((row) => row[key])), new Set(["cpu"]));
  }
});

test("without an adapter the page says so and runs on the CPU", { timeout }, () =>
  withPage({ name: "no-adapter", flags: noAdapter, address: server.address }, async (page) => {
    await page.locator("#notice").waitFor();
    assert.match(await page.locator("#notice").textContent(), /no adapter of this machine.*CPU/);
    await page.locator("#rows tr.pass").first().waitFor();
  }),
);

test("a shader that the browser refuses is an error in its row, not a wrong result", { timeout }, () => {
  const prepare = () => {
    const createShaderModule = GPUDevice.prototype.createShaderModule;
    GPUDevice.prototype.createShaderModule = function (descriptor) {
      return createShaderModule.call(this, { ...descriptor, code: `${descriptor.code}\nplanted nonsense` });
    };
  };
  return withPage({ name: "refused", flags: webgpu, address: server.address, prepare }, async (page) => {
    await page.waitForFunction(() => document.body.dataset.state, null, { timeout });
    const { state, rows } = await page.evaluate(() => globalThis.portcullis);
    assert.equal(state, "failed");
    const onGpu = rows.filter((row) => row.variant === "portable");
    assert.ok(onGpu.length > 0);
    for (const row of onGpu) {
      assert.equal(row.status, "error", JSON.stringify(row));
      assert.match(row.note, /^kernel .*planted/s);
    }
  });
});
