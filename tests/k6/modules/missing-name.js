// A name that an ES module does not export is an error
import { nothing } from './lib/leaf.js';
export default function () { console.log(nothing); }
