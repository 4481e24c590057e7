// Names, resolved as the system does, and by a name server of your choice:
//
//   brunt run -e NAME_SERVER=8.8.8.8 -e NAME=example.com examples/dns.js

import { check } from 'k6';
import dns from 'k6/x/dns';

export const options = {
  iterations: 3,
  thresholds: {
    checks: ['rate==1'],
    dns_lookup_failed: ['rate==0'],
    dns_lookup_duration: ['p(95)<5000'],
  },
};

export default async function () {
  const here = await dns.lookup('localhost');
  check(here, { 'there is a place like home': (ips) => ips.length > 0 });

  if (__ENV.NAME_SERVER) {
    const ips = await dns.resolve(__ENV.NAME, 'A', __ENV.NAME_SERVER);
    check(ips, { 'the name has an address': () => ips.length > 0 });
  }
}
