// 120: what a metric may be called
import { Trend } from 'k6/metrics';
const names = ['x', 'ab', 'a-b', 'a.b', '1a', '_a', 'ä', 'A9', '', 'a'.repeat(128), 'a'.repeat(129), 'a'.repeat(130)];
const facts = names.map((name) => { try { new Trend(name); return 'ok'; } catch (e) { return e.name; } });
export default function () { console.log(facts.join()); }
