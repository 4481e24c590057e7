// {{ .ScriptName }}: five users ask for one page over and over, for twenty seconds.
//
//   brunt run --demo {{ .ScriptName }}        against the demo server inside brunt
//   brunt run -e URL=http://… {{ .ScriptName }}   against your own
import http from 'k6/http';
import { check, sleep } from 'k6';

const page = __ENV.URL || `${__ENV.DEMO_URL || 'http://127.0.0.1:8080'}/memory/1`;

export const options = {
  vus: 5,
  duration: '20s',
  thresholds: { checks: ['rate>0.99'] },
};

export default function () {
  const answer = http.get(page);
  check(answer, {
    'the page is there': (a) => a.status === 200,
    'the page is not empty': (a) => Boolean(a.body),
  });
  sleep(0.5);
}
