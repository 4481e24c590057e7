exports.one = 1;
exports.two = function () { return 2; };
