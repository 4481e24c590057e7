// 73: a host that is mapped to no address is not mapped
import http from 'k6/http';
export const options = { hosts: { localhost: 'not an address', '127.0.0.1': 'example.com' } };
export default function () {
  console.log(http.get(`${__ENV.DEMO_URL}/ping`).status);
  console.log(http.get(`${__ENV.DEMO_URL.replace('127.0.0.1', 'localhost')}/ping`).status);
}
