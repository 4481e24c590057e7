// One request after the other on a route whose time the caller chooses.
import http from 'k6/http';

export const options = { vus: 4, duration: `${__ENV.SECONDS}s` };

export default function () {
  http.get(`${__ENV.TARGET}/delay/${__ENV.MS}`, { tags: { name: 'delay' } });
}
