// A UMD bundle loads by default, by name and as a namespace
import harbour, { isDeep, runs } from './lib/umd.js';
import * as all from './lib/umd.js';
export default function () {
  console.log(harbour.name, harbour.berths.join(), typeof harbour.isDeep);
  console.log(isDeep(1), all.isDeep(4), all.berths === harbour.berths, runs > 0, 'isDeep' in all, Object.keys(harbour).join());
}
