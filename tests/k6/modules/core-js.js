// Feature tests of polyfills find what they look for
import core from './lib/core.js';
export default function () { console.log(core.result, core.Symbol, core.iterator, globalThis.__core_result === core.result); }
