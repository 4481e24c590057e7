// A library from before modules: a global for pages, `module.exports` where there is one.
var Scores = (function () {
  var kept = [];
  return {
    add: function (line) { kept.push(line.split(':')); return this; },
    table: function () { return kept.map(function (pair) { return { who: pair[0], points: +pair[1] }; }); },
  };
}());
if (typeof module === 'object' && module && 'exports' in module) {
  module.exports = Scores;
} else {
  (typeof self === 'object' ? self : this).Scores = Scores;
}
