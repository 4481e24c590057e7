// A bundle that leaves k6's own modules outside and asks `require` for them; the only thing that it tells is `module.exports`.
(() => {
  'use strict';
  const outside = new Map(['k6', 'k6/http'].map((name) => [name, require(name)]));
  const load = (name) => outside.get(name);
  // A module of either kind: `.value` is its default, for CommonJS the whole.
  const whole = (name) => ({ get value() { const of = load(name); return of.__esModule ? of.default : of; } });
  const told = Object.defineProperty({}, '__esModule', { value: true });
  const tell = (name, read) => Object.defineProperty(told, name, { enumerable: true, get: read });
  if (Symbol.toStringTag) Object.defineProperty(told, Symbol.toStringTag, { value: 'Module' });

  // Getters stand before what they give.
  tell('default', () => sail);
  tell('options', () => plan);
  tell('inspect', () => inspect);

  const web = whole('k6/http');
  const plan = { iterations: 1, tags: { pier: 'east' } };
  const inspect = (knots) => (0, load('k6').check)(knots, { 'wind is fair': (wind) => wind < 20 });
  function sail() { return `${typeof web.value.get} ${typeof web.value.post}`; }

  module.exports = told;
})();
