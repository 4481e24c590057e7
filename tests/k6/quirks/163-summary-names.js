// 131: names of custom metrics that begin like built-in ones
import { Counter, Trend } from 'k6/metrics';
const a = new Counter('http_reqs_mine'), b = new Trend('group_duration_mine');
export const options = { thresholds: { http_reqs_mine: ['count==1'], group_duration_mine: ['max==5'] } };
export default function () { a.add(1); b.add(5); }
