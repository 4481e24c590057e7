// 48: a counter without samples fails count>0
import { Counter } from 'k6/metrics';
new Counter('my_counter');
export const options = { thresholds: { my_counter: ['count>0'] } };
export default function () {}
