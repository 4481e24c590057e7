var Papa = (function () { var p = {}; p.parse = function (text) { return { data: text.trim().split('\n').map(function (l) { return l.split(','); }), errors: [] }; }; return p; })();
if (typeof module !== 'undefined' && module.exports) { module.exports = Papa; } else { this.Papa = Papa; }
