'use strict';
let reads = 0;
let isBroken = false;
exports.default = 'first';
exports.count = 1;
exports.step = function () {
  exports.default = 'second';
  exports.count += 1;
  exports.late = 'came later';
};
exports.drop = function () {
  delete exports.default;
  delete exports.count;
};
exports.spoil = function () { isBroken = true; };
Object.defineProperty(exports, 'reads', { enumerable: true, get() { reads += 1; return reads; } });
Object.defineProperty(exports, 'fragile', {
  enumerable: true,
  get() {
    if (isBroken) throw new Error('the getter fails');
    return 'whole';
  },
});
Object.defineProperty(exports, 'hidden', { value: 'not enumerable' });
