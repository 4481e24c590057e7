// A main script that fills exports
'use strict';
var k6 = require('k6');
exports.options = { vus: 1, iterations: 1 };
exports.default = function (data) { console.log(typeof k6.check, typeof data, this === undefined); };
