export function f() {
  throw new Error("x");
}
//# sourceMappingURL=map-missing-module.js.map
