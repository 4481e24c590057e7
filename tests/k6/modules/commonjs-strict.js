// CommonJS is strict code, too: no `this` for functions, no undeclared variables.
const tried = [];
const attempt = (name, run) => {
  try {
    tried.push(`${name}: ${run()}`);
  } catch (e) {
    tried.push(`${name}: ${e.name}`);
  }
};
attempt('this', () => this === module.exports);
attempt('this of a function', () => (function () { return this === undefined; })());
attempt('undeclared', () => { undeclared = 1; return 'made'; });
attempt('frozen', () => { Object.freeze(tried.slice()).length = 5; return 'ignored'; });
attempt('eval', () => eval('(function () { return this === undefined; })()'));
attempt('indirect eval', () => (0, eval)('indirect = 1; indirect'));
attempt('Function', () => new Function('made = 2; return made')());
attempt('arguments', () => (function (a) { arguments[0] = 2; return a; })(1));

module.exports.default = function () {
  console.log(this === undefined);
  tried.forEach((line) => console.log(line));
};
