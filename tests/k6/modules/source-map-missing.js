// A CommonJS file that names a source map which isn't there: its lines are one too many in stacks, those of ES modules not.
import * as common from './lib/map-missing-common.js';
import { f } from './lib/map-missing-module.js';

function place(f) {
  try {
    f();
  } catch (e) {
    console.log(e.stack.split('\n')[1].replace(/file:.*\//, '').replace(/\(\d+\)/g, '').trim());
  }
}

export default function () {
  place(common.f);
  place(common.g);
  place(f);
}
