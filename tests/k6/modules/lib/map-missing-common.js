exports.f = function f() {
  throw new Error("x");
};
exports.g = function g() { return undefined_name(); };
//# sourceMappingURL=map-missing-common.js.map
