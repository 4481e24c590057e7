// {{ .ScriptName }}: ten users who fetch one page, again and again, for half a minute.
//
//   brunt run --demo {{ .ScriptName }}        against the demo server inside brunt
//   brunt run -e URL=http://… {{ .ScriptName }}   against your own
import http from 'k6/http';
import { check, sleep } from 'k6';

export const options = {
  vus: 10,
  duration: '30s',
};

const url = __ENV.URL || `${__ENV.DEMO_URL || 'http://127.0.0.1:8080'}/memory/1`;

export default function () {
  const response = http.get(url);
  check(response, { 'status is 200': (r) => r.status === 200 });
  sleep(1);
}
