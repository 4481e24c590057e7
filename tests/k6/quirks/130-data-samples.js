// 130: data_sent and data_received come once an iteration
import http from 'k6/http';
export const options = { iterations: 3 };
export function setup() {}
export default function () { if (__ITER === 1) http.get(`${__ENV.DEMO_URL}/ping`); }
export function teardown() {}
