// 71: values of headers become text, and of two spellings of a name the later one wins
import http from 'k6/http';
export default function () {
  const sent = http.get(`${__ENV.DEMO_URL}/anything/x`, { headers: { 'x-null': null, 'X-Undefined': undefined, 'x-number': 1.50, 'x-big': 1e21, 'x-bool': false, 'x-list': [1, [2, 3]], 'x-object': { a: 1 }, 'x-date': { toString: () => 'mine' }, 'x-empty': '', 'x-two': 'first', 'X-Two': 'second' } });
  const headers = sent.request.headers;
  for (const name of Object.keys(headers).sort()) if (name.startsWith('X-')) console.log(name, JSON.stringify(headers[name]));
  console.log(sent.status);
}
