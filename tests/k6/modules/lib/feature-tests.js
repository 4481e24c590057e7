// Asks the engine what it has, by the ways in which libraries for old browsers ask, and exports the answers.
(function (missing) {
  var answers = {};

  function ask(name, question) {
    var answer;
    try {
      answer = question.call(missing);
    } catch (refused) {
      answer = 'refused: ' + refused.name;
    }
    answers[name] = String(answer);
  }

  // The global object, by every name that it may have.
  var ways = ['globalThis', 'window', 'self', 'global'];
  var everything = Function('return this')();
  ask('names', function () {
    return ways.filter(function (way) { return Function('return typeof ' + way)() === 'object'; }).join('+');
  });
  ask('same', function () { return everything === (0, eval)('this') && everything.Array === Array; });

  // Names that servers and browsers have: `typeof` must not throw.
  ask('process', function () { return typeof process; });
  ask('navigator', function () { return typeof navigator === 'undefined' ? 'none' : typeof navigator.userAgent; });
  ask('untold', function () { return tideTableThatIsNot; });

  // Accessors, borrowed methods, the classes of values.
  ask('accessor', function () {
    var box = {};
    Object.defineProperty(box, 'depth', { get: function () { return 12; }, configurable: true });
    return box.depth + Object.keys(box).length;
  });
  ask('borrowed', function () { return Array.prototype.concat.apply([], Array.prototype.slice.call('buoy', 1)).length; });
  ask('classes', function () {
    var told = Function.prototype.bind.call(Function.prototype.call, Object.prototype.toString);
    return [missing, null, [], /x/, 1, told, new Date(0)].map(function (value) { return told(value).slice(8, -1); }).join('+');
  });
  ask('letters', function () { return 'k6'['1'] + '6'.propertyIsEnumerable(0); });
  ask('strict', function () { 'use strict'; return this === missing; });

  // Features that came later.
  ask('symbols', function () { return typeof Symbol() + ' ' + typeof Symbol.iterator; });
  ask('promise', function () { return Promise.resolve(1) instanceof Promise && typeof Promise.prototype['finally']; });
  ask('late', function () { return [1, [2]].flat().at(-1); });

  everything.featureTests = answers;
  module.exports = { answers: answers, count: Object.keys(answers).length };
})();
