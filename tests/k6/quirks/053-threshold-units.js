// 53: thresholds hold milliseconds and bytes, never units
import http from 'k6/http';
export const options = { thresholds: { http_req_duration: ['p(95)<5000', 'max>0'], data_received: ['count>10'], data_sent: ['count<100000', 'rate>0'] } };
export default function () { http.get(`${__ENV.DEMO_URL}/ping`); }
