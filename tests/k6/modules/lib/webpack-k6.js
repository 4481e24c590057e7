/*! a bundle as webpack makes it for k6: built-in modules are externals */
(() => {
  'use strict';
  var e = { d: (t, r) => { for (var n in r) e.o(r, n) && !e.o(t, n) && Object.defineProperty(t, n, { enumerable: !0, get: r[n] }); }, o: (e, t) => Object.prototype.hasOwnProperty.call(e, t), r: (e) => { Object.defineProperty(e, Symbol.toStringTag, { value: 'Module' }); Object.defineProperty(e, '__esModule', { value: !0 }); }, n: (t) => { var r = t && t.__esModule ? () => t.default : () => t; return e.d(r, { a: r }), r; } };
  var t = {};
  e.r(t), e.d(t, { default: () => c, options: () => o, helper: () => h });
  const r = require('k6'), n = require('k6/http');
  var i = e.n(n);
  const o = { vus: 1 };
  const h = (v) => (0, r.check)(v, { 'from bundle': (x) => x === 1 });
  function c() { return typeof i().get; }
  module.exports = t;
})();
