// A CommonJS file may require an ES module that imports the file back, by name or as a namespace
import { x, late } from './lib/back.js';
import * as all from './lib/back-all.js';

export default function () {
  console.log(x, late(), all.x, all.late());
}
