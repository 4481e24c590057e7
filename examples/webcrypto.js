// The global crypto: a token signed and a body encrypted with keys that never leave the script.

import http from 'k6/http';
import encoding from 'k6/encoding';
import { check } from 'k6';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';
const utf8 = new TextEncoder();

export const options = {
  iterations: 3,
  thresholds: {
    checks: ['rate==1'],
  },
};

const url64 = (data) => encoding.b64encode(data, 'rawurl');

/** A JSON Web Token, signed by an elliptic key. */
async function token(key, claims) {
  const head = url64(JSON.stringify({ alg: 'ES256', typ: 'JWT' }));
  const text = `${head}.${url64(JSON.stringify(claims))}`;
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, utf8.encode(text));
  return `${text}.${url64(signature)}`;
}

export default async function () {
  const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
  const jwt = await token(pair.privateKey, { sub: 'ada', jti: crypto.randomUUID() });
  const res = http.get(`${base}/bearer`, { headers: { Authorization: `Bearer ${jwt}` } });
  check(res, { 'the token arrived': (r) => r.json('token') === jwt });

  const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']);
  const algorithm = { name: 'AES-GCM', iv: crypto.getRandomValues(new Uint8Array(12)) };
  const sealed = await crypto.subtle.encrypt(algorithm, key, utf8.encode('between us'));
  const opened = await crypto.subtle.decrypt(algorithm, key, sealed);
  check(opened, { 'only the key opens it': (bytes) => new TextDecoder().decode(bytes) === 'between us' });
}
