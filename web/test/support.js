// A server for the page and a browser to open it in.
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = fileURLToPath(new URL("..", import.meta.url));
const types = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".wasm": "application/wasm",
};

/** Serves this folder on a free port of 127.0.0.1. */
export async function serve() {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const file = path.join(root, pathname.endsWith("/") ? `${pathname}index.html` : pathname);
    try {
      const body = await readFile(file);
      response.setHeader("Content-Type", types[path.extname(file)] ?? "text/plain");
      response.end(body);
    } catch {
      response.statusCode = 404;
      response.end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${server.address().port}/`,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

const quiet = [
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
/** WebGPU on SwiftShader, which needs no GPU and is the same on every machine. */
export const webgpu = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];
/** WebGPU without an adapter: what Chromium does on Linux unless told otherwise. */
export const noAdapter = [];

function browserPath() {
  const places = [
    process.env.CHROMIUM,
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  ];
  const found = places.find((place) => place && existsSync(place));
  if (!found) throw new Error("no Chromium was found; set CHROMIUM to its path");
  return found;
}

/**
 * Opens `address` and calls `use(page)`; `prepare`, if given, runs in the page before its own scripts. Fails when the page throws
 * an error that nothing catches. On failure a screenshot is left in `failures/NAME.png`.
 */
export async function withPage({ name, flags, address, prepare }, use) {
  const browser = await chromium.launch({ executablePath: browserPath(), args: [...quiet, ...flags] });
  try {
    const page = await browser.newPage();
    if (prepare) await page.addInitScript(prepare);
    const problems = [];
    page.on("pageerror", (error) => problems.push(error.stack ?? String(error)));
    page.on("console", (message) => {
      if (message.type() === "error") problems.push(message.text());
    });
    try {
      await page.goto(address);
      const result = await use(page);
      if (problems.length > 0) throw new Error("the page reported errors");
      return result;
    } catch (error) {
      const folder = path.join(root, "failures");
      await mkdir(folder, { recursive: true });
      const file = path.join(folder, `${name}.png`);
      await page.screenshot({ path: file }).catch(() => {});
      error.message += ["", ...problems.slice(0, 20), `screenshot: ${file}`].join("\n");
      throw error;
    }
  } finally {
    await browser.close();
  }
}
