// 122: what add takes
import { Counter } from 'k6/metrics';
const mine = new Counter('mine');
export default function () {
  const values = [NaN, null, undefined, 'abc', '5', [], '', true, false, {}, [7], 1e3, '0x10', ' 4 ', new Date(5)];
  console.log(values.map((v) => { try { return mine.add(v); } catch (e) { return e.name; } }).join());
}
export function handleSummary(data) { return { stdout: `${data.metrics.mine.values.count}\n` }; }
