exports.x = 'third';
const { seen } = require('./back-to-all.js');
exports.late = seen;
