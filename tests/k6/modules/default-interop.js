// exports.default is the default import of CommonJS
import d, { named } from './lib/defaults-only.js';
import plain, { n, list } from './lib/plain.js';
export default function () { console.log(d.greet(), named, plain.n, n, list.length); }
