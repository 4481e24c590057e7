// 60: names of checks and groups must not hold two colons
import { check, group } from 'k6';
export default function () {
  try { check(1, { 'a::b': true }); } catch (e) { console.log(e.name); }
  try { group('a::b', () => {}); } catch (e) { console.log(e.name); }
}
