// A CommonJS file may catch what an ES module throws that imports it back; the modules around stay whole
import { told } from './lib/catches.js';
import { whole } from './lib/catches-whole.js';

export default function () {
  console.log(told, whole);
}
