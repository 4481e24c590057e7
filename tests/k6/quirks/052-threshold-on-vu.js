// 52: submetrics of vu and iter never match
import { Counter } from 'k6/metrics';
const mine = new Counter('mine');
export const options = { thresholds: { 'mine{vu:1}': ['count<1'], 'mine{tag:a}': ['count==1'] } };
export default function () { mine.add(1, { tag: 'a' }); mine.add(1); }
