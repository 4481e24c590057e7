(function webpackUniversalModuleDefinition(root, factory) {
  if (typeof exports === 'object' && typeof module === 'object') module.exports = factory();
  else if (typeof define === 'function' && define.amd) define([], factory);
  else if (typeof exports === 'object') exports['umd'] = factory();
  else root['umd'] = factory();
})(typeof self !== 'undefined' ? self : this, function () {
  return (function (modules) {
    var installedModules = {};
    function __webpack_require__(moduleId) {
      if (installedModules[moduleId]) return installedModules[moduleId].exports;
      var module = (installedModules[moduleId] = { i: moduleId, l: false, exports: {} });
      modules[moduleId].call(module.exports, module, module.exports, __webpack_require__);
      module.l = true;
      return module.exports;
    }
    __webpack_require__.d = function (exports, name, getter) { if (!Object.prototype.hasOwnProperty.call(exports, name)) Object.defineProperty(exports, name, { enumerable: true, get: getter }); };
    __webpack_require__.r = function (exports) { if (typeof Symbol !== 'undefined' && Symbol.toStringTag) Object.defineProperty(exports, Symbol.toStringTag, { value: 'Module' }); Object.defineProperty(exports, '__esModule', { value: true }); };
    return __webpack_require__(0);
  })([
    function (module, exports, req) { 'use strict'; req.r(exports); req.d(exports, 'twice', function () { return twice; }); var one = req(1); function twice(n) { return one.add(n, n); } exports.default = { twice: twice, version: '1' }; },
    function (module, exports) { exports.add = function (a, b) { return a + b; }; },
  ]);
});
