/* feature tests as polyfill libraries do */
(function (undefined) {
  var check = function (it) { return it && it.Math === Math && it; };
  var global = check(typeof globalThis == 'object' && globalThis) || check(typeof window == 'object' && window) || check(typeof self == 'object' && self) || check(typeof global == 'object' && global) || (function () { return this; })() || Function('return this')();
  var fails = function (exec) { try { return !!exec(); } catch (error) { return true; } };
  var DESCRIPTORS = !fails(function () { return Object.defineProperty({}, 1, { get: function () { return 7; } })[1] !== 7; });
  var uncurryThis = function (fn) { return function () { return Function.prototype.call.apply(fn, arguments); }; };
  var classof = function (it) { return uncurryThis({}.toString)(it).slice(8, -1); };
  var IndexedObject = fails(function () { return !Object('z').propertyIsEnumerable(0); }) ? 'split' : 'native';
  var userAgent = typeof navigator != 'undefined' && String(navigator.userAgent) || '';
  var process = global.process, Deno = global.Deno, versions = (process && process.versions) || (Deno && Deno.version);
  global.__core_result = [DESCRIPTORS, classof([]), classof(null), classof(function () {}), IndexedObject, userAgent, !!versions, fails(function () { return new Promise(function () {}).then(function () {}) instanceof Promise ? false : true; })].join();
  module.exports = { result: global.__core_result, Symbol: typeof Symbol, iterator: typeof Symbol.iterator };
})();
