// What wgpu's web backend does not do for its device: it does not know WebGPU's
// feature "subgroups", so it never asks for it, and it takes an adapter's
// description, which browsers keep empty, for its name. Call this before the
// wasm module requests its device; the module reads the two globals.
export function watchAdapter({ subgroups }) {
  if (!globalThis.GPUAdapter) return;
  const requestDevice = GPUAdapter.prototype.requestDevice;
  GPUAdapter.prototype.requestDevice = function (descriptor = {}) {
    const { vendor, architecture, device } = this.info;
    globalThis.portcullisAdapter = [vendor, architecture, device].filter(Boolean).join(" ");
    globalThis.portcullisSubgroups = subgroups && this.features.has("subgroups");
    if (!globalThis.portcullisSubgroups) return requestDevice.call(this, descriptor);
    const requiredFeatures = [...(descriptor.requiredFeatures ?? []), "subgroups"];
    return requestDevice.call(this, { ...descriptor, requiredFeatures });
  };
}
