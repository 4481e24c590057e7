// A bundle of webpack 5 with k6's modules as externals
import run, { helper, options as theirs } from './lib/webpack-k6.js';
export default function () { console.log(run(), helper(1), theirs.vus); }
