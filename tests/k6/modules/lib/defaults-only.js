exports.default = { greet: () => 'hi' };
exports.named = 5;
