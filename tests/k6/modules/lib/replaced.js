exports.old = 1;
module.exports = { fresh: 2, replace() { module.exports = { fresh: 3 }; } };
