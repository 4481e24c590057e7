// 55: a crossed threshold at the end exits with 99
import { Counter } from 'k6/metrics';
const mine = new Counter('mine');
export const options = { thresholds: { mine: ['count<2'] } };
export default function () { mine.add(5); }
