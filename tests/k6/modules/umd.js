// A UMD bundle of webpack 4 loads by default, by name and as a namespace
import umd, { twice } from './lib/umd.js';
import * as ns from './lib/umd.js';
export default function () { console.log(typeof umd.twice, twice(4), ns.twice(2), umd.version); }
