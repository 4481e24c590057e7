// 105: the keys of json() are all there; their order is no matter in k6
import http from 'k6/http';
export default function () {
  const res = http.post(`${__ENV.DEMO_URL}/anything/x`, JSON.stringify({ z: 1, a: { y: 2, b: [{ d: 1, c: 2 }] } }));
  const sorted = (value) => {
    if (Array.isArray(value)) return value.map(sorted);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
  };
  console.log(Object.keys(res.json()).sort().join());
  console.log(JSON.stringify(sorted(JSON.parse(res.request.body))));
  for (const key in res.json()) if (!res.json().hasOwnProperty(key)) console.log('not its own:', key);
}
