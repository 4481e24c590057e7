// Streams: a body that is made while it is sent, and one that is read piece by piece. Neither is ever whole in memory.

import http from 'k6/http';
import { check } from 'k6';
import { ReadableStream, WritableStream } from 'k6/experimental/streams';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

export const options = {
  vus: 2,
  iterations: 4,
  thresholds: { checks: ['rate==1'] },
};

// Lines of a made-up log, a few at a time.
function lines(count) {
  let line = 0;
  return new ReadableStream({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      controller.enqueue(`line ${String(line).padStart(4, '0')}\n`);
      line += 1;
      if (line === count) controller.close();
    },
  });
}

export default async function () {
  const sent = await http.asyncRequest('POST', `${base}/sink`, lines(20));
  check(sent, { 'every line arrived': (r) => r.json('bytes') === 20 * 10 });

  let bytes = 0;
  const counter = new WritableStream({
    write(chunk) {
      bytes += chunk.length;
    },
  });
  await new Blob(['x'.repeat(200000)]).stream().pipeTo(counter);
  check(bytes, { 'every byte went through the pipe': (count) => count === 200000 });
}
