// ES modules that import each other
import { both } from './lib/circle-a.js';
export default function () { console.log(both()); }
