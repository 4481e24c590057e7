// Server-sent events: what comes, and how long apart. EventSource is Brunt's; k6 has none.
import { check } from 'k6';

export const options = {
  iterations: 2,
  thresholds: { sse_events: ['count==6'], sse_event_interval: ['p(95)<1000'] },
};

export default function () {
  const events = new EventSource(`${__ENV.DEMO_URL}/sse?n=3&every=50ms`);
  let count = 0;
  events.addEventListener('tick', (event) => {
    count += 1;
    check(JSON.parse(event.data), { 'in order': ({ n }) => n === count });
    // Without this, it connects again when the server has ended the stream, as browsers do.
    if (count === 3) events.close();
  });
  events.onerror = (event) => console.error(event.error);
}
