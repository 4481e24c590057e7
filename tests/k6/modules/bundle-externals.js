// A bundle that requires k6's modules itself gives its default, its options and its functions
import sail, { inspect, options as plan } from './lib/bundled.js';
export default function () { console.log(sail(), inspect(18), inspect(25), JSON.stringify(plan)); }
