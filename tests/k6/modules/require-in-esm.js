// require in an ES module gives namespaces and module.exports
import { check } from 'k6';
const leaf = require('./lib/leaf.js'), plain = require('./lib/plain.js'), k6 = require('k6'), http = require('k6/http');
export default function () { console.log(leaf.one, leaf.default(), plain.n, typeof k6.check, typeof http.get, typeof http.default, plain === require.cache); }
