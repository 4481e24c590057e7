// A bundle for every loader: CommonJS first, then AMD, then a global. Inside, units are run when they are first asked for.
;(function (scope, make) {
  if (typeof module !== 'undefined' && module && typeof exports !== 'undefined') {
    module.exports = make();
    return;
  }
  if (typeof define !== 'undefined' && define.amd) {
    define('harbour', make);
    return;
  }
  scope.harbour = make();
}(typeof globalThis !== 'undefined' ? globalThis : this, function () {
  var made = {}, runs = 0;

  function take(unit) {
    if (!made.hasOwnProperty(unit)) {
      made[unit] = {};
      runs += 1;
      units[unit](made[unit], take);
    }
    return made[unit];
  }

  function offer(target, names) {
    Object.keys(names).forEach(function (name) {
      Object.defineProperty(target, name, { get: names[name], enumerable: true });
    });
  }

  var units = {
    depth: function (out) {
      out.ofTide = function (hours) { return 3 + hours * 0.5; };
    },
    harbour: function (out, take) {
      'use strict';
      Object.defineProperty(out, '__esModule', { value: true });
      out[Symbol.toStringTag] = 'Module';
      offer(out, {
        berths: function () { return berths; },
        isDeep: function () { return isDeep; },
        runs: function () { return runs; },
      });
      var berths = ['north', 'east'];
      function isDeep(hours) { return take('depth').ofTide(hours) >= 5; }
      out.default = { berths: berths, isDeep: isDeep, name: 'Nordby' };
    },
  };

  return take('harbour');
}));
