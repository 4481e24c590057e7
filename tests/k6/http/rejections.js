// asyncRequest() rejects with a text and little more, not with an Error of JavaScript.
import http from 'k6/http';

export default async function () {
  for (const [method, url, params] of [
    ['GET', 'http://127.0.0.1:1/', { throw: true }],
    ['G ET', `${__ENV.DEMO_URL}/`, { throw: true }],
  ]) {
    try {
      await http.asyncRequest(method, url, null, params);
    } catch (error) {
      console.log(error);
      console.log(`${error}`, typeof error, error instanceof Error, error.name, error.message, error.stack, error.error());
    }
    try {
      http.request(method, url, null, params);
    } catch (error) {
      console.log(error.name, error.message, error instanceof Error);
    }
  }
  await http.asyncRequest('GET', 'http://127.0.0.1:1/', null, { throw: true });
}
