// A server of known capacity: one queue, one server, exponential service times. It answers no sooner than its schedule says, and
// works on no more than one request at a time.
//
//   node queue.mjs [PORT [MEAN_MS [SEED]]]
import { createServer } from 'node:http';

const [port, mean, seed] = [8099, 5, 1].map((usual, index) => Number(process.argv[index + 2] ?? usual));

let state = seed >>> 0;
/** Between 0 and 1, never 0: mulberry32. */
function random() {
  state = (state + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return (((mixed ^ (mixed >>> 14)) >>> 0) + 1) / 4294967297;
}

let free = 0;
const server = createServer((_request, response) => {
  const now = performance.now();
  free = Math.max(free, now) - Math.log(random()) * mean;
  setTimeout(() => response.end('done\n'), free - now);
});
server.keepAliveTimeout = 60_000;
server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
