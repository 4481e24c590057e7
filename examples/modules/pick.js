// A CommonJS module: those can be imported, too.

exports.cheapest = function (items) {
  return items.reduce((a, b) => (a.price < b.price ? a : b));
};
