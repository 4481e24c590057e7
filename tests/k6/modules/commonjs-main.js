// A main script in CommonJS
const http = require('k6/http');
const { check, sleep } = require('k6');
const plain = require('./lib/plain.js');
module.exports.options = { iterations: 2 };
module.exports.default = function () { console.log(typeof http.get, typeof check, typeof sleep, plain.n, __ITER); };
module.exports.setup = function () { return { from: 'setup' }; };
module.exports.teardown = function (data) { console.log(data.from); };
