// Runs in the page: compiles shaders with the browser's own compiler.

/**
 * Compiles each of `shaders` (`{name, subgroups, text}`) to a pipeline.
 * Gives how many were compiled, why others were left out, and every message
 * of the compiler, as `{name, kind, text}`.
 */
export async function compileAll(shaders) {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) throw new Error("no WebGPU adapter");
  const wanted = ["subgroups", "shader-f16"].filter((feature) => adapter.features.has(feature));
  const requiredLimits = {};
  for (const limit in adapter.limits) {
    const value = adapter.limits[limit];
    // Subgroup sizes are listed among the limits by some versions, and are none.
    if (typeof value === "number" && !limit.includes("ubgroup")) requiredLimits[limit] = value;
  }
  const device = await adapter.requestDevice({ requiredFeatures: wanted, requiredLimits });
  const result = { compiled: 0, features: wanted, left_out: [], messages: [] };
  for (const { name, subgroups, text } of shaders) {
    if (subgroups && !adapter.features.has("subgroups")) {
      result.left_out.push({ name, reason: "the adapter has no subgroups" });
      continue;
    }
    if (/^\s*enable f16\s*;/m.test(text) && !adapter.features.has("shader-f16")) {
      result.left_out.push({ name, reason: "the adapter has no f16" });
      continue;
    }
    const report = (kind, message) => result.messages.push({ name, kind, text: message });
    device.pushErrorScope("validation");
    const module = device.createShaderModule({ code: text });
    const information = await module.getCompilationInfo();
    for (const message of information.messages) {
      const line = text.split("\n")[message.lineNum - 1] ?? "";
      report(message.type, `line ${message.lineNum}: ${message.message}\n    ${line.trim()}`);
    }
    await device.popErrorScope();
    try {
      await device.createComputePipelineAsync({ layout: "auto", compute: { module, entryPoint: "main" } });
    } catch (error) {
      report("pipeline", error.message);
    }
    result.compiled += 1;
  }
  device.destroy();
  return result;
}
