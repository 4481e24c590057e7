exports.told = [];
for (let i = 0; i < 2; i++) {
  try { require('./catches-throws.js'); } catch (e) { exports.told.push(e.message); }
}
