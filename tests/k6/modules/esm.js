// Exports of ES modules: star, renamed, live, default classes
import Base, { one, uno, again, leaf, counter, bump } from './lib/star.js';
import * as ns from './lib/star.js';
class Derived extends Base {}
export default function () {
  console.log(one, uno, again(), leaf.one, counter, bump(), counter, new Derived().name());
  console.log(Object.keys(ns).sort().join(), typeof ns.default, Object.prototype.toString.call(ns));
}
