exports.x = 'first';
const { seen } = require('./back-to-it.js');
exports.x = 'second';
exports.late = seen;
