// One file from the disk to the server, once.
import { check } from 'k6';
import { Client, FileStream, Request, checkstatus } from 'k6/x/fasthttp';

export const options = { vus: 1, iterations: 1, thresholds: { checks: ['rate==1'] } };

const client = new Client();
const upload = new Request(__ENV.URL, { body: new FileStream(__ENV.FILE) });

export default function () {
  const response = client.put(upload);
  checkstatus(200, response);
  check(response, { 'all bytes arrive': (r) => r.json('bytes') === Number(__ENV.BYTES) });
}
