'use strict';
// CommonJS as compilers of newer languages write it: helpers that a `this` may bring, exports set before they have values,
// defaults of modules of either kind, async functions as generators, enums as objects that know both ways.
var defaultOf = (this && this.defaultOf) || ((module) => (module && module.__esModule ? module : { default: module }));
var drive = (this && this.drive) || ((steps) => new Promise((keep, drop) => {
  const walker = steps();
  const walk = (how, given) => {
    let step;
    try { step = walker[how](given); } catch (thrown) { return drop(thrown); }
    return step.done ? keep(step.value) : Promise.resolve(step.value).then((v) => walk('next', v), (e) => walk('throw', e));
  };
  walk('next');
}));
Object.defineProperty(exports, '__esModule', { value: true });
exports.Wind = exports.draught = exports.fetcher = exports.rescue = undefined;

const outer = defaultOf(require('k6/http'));
const inner = defaultOf(require('./plain.js'));
const numbers = defaultOf(require('./exports.js'));

var Wind;
(function (members) {
  ['Calm', 'Breeze', 'Gale'].forEach((name, force) => { members[members[name] = force] = name; });
})(Wind || (exports.Wind = Wind = {}));

exports.fetcher = typeof outer.default.get;
exports.draught = () => drive(function* () { return (yield Promise.resolve(2)) + (yield inner.default.n); });
exports.rescue = () => drive(function* () {
  try { yield Promise.reject(new Error('aground')); } catch (error) { return `${error.message}, ${numbers.default.two()}`; }
});
Object.defineProperty(exports, 'one', { enumerable: true, get: () => numbers.default.one });
exports.default = class Pilot { greet() { return `${new.target} ${this.constructor.name}`; } };
