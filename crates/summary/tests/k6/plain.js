// No checks, no groups, no thresholds.
import http from 'k6/http';

export const options = { vus: 1, iterations: 5 };

export default function () {
  http.get(__ENV.URL);
}
