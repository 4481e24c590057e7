// Feature tests of libraries for old browsers find what they look for
import tests from './lib/feature-tests.js';
export default function () {
  for (const [name, answer] of Object.entries(tests.answers)) console.log(name, answer);
  console.log(tests.count, globalThis.featureTests === tests.answers);
}
