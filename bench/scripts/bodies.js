// One picture of 140 kB and a small JSON part, as multipart/form-data, in each of the forms in which scripts send it.
import http from 'k6/http';
import crypto from 'k6/crypto';
import encoding from 'k6/encoding';
import { check } from 'k6';
import { SharedArray } from 'k6/data';
import { ByteForm } from './formdata.js';

export const options = { thresholds: { checks: ['rate==1'] } };

const url = __ENV.URL;
const form = __ENV.FORM;
const meta = '{"camera":7,"taken":"2026-11-21T10:00:00Z"}';
const picture = open('./picture.bin', 'b');
const boundary = '----BoundaryOfTheBench42';
const type = { headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` } };

function bytes(text) {
  const out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
  return out;
}

// The bytes before the picture; padded to a multiple of three, so that its Base64 can be joined with more.
function before() {
  const head = (pad) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="meta"\r\n\r\n${meta}${pad}\r\n` +
    `--${boundary}\r\nContent-Disposition: form-data; name="image"; filename="picture.jpg"\r\n` +
    'Content-Type: image/jpeg\r\n\r\n';
  return head(' '.repeat((3 - (head('').length % 3)) % 3));
}

const after = `\r\n--${boundary}--\r\n`;

function whole() {
  const parts = [bytes(before()), new Uint8Array(picture), bytes(after)];
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out.buffer;
}

const raw = form === 'raw' ? whole() : null;

// The picture's size is a multiple of three: its Base64 has no padding. One object, for k6 walks through strings that
// are elements themselves letter by letter, which takes 50 times as long.
const pieces =
  form === 'base64'
    ? new SharedArray('pieces', () => [
        {
          before: encoding.b64encode(before()),
          picture: encoding.b64encode(picture),
          after: encoding.b64encode(after),
        },
      ])
    : [];

// The same bytes as an array of numbers.
const numbers = form === 'numbers' ? new SharedArray('numbers', () => [Array.from(new Uint8Array(whole()))]) : [];

const file = form === 'file' ? http.file(picture, 'picture.jpg', 'image/jpeg') : null;
const blob = form === 'native' ? new Blob([picture], { type: 'image/jpeg' }) : null;

export function setup() {
  return form === 'setup' ? { body: encoding.b64encode(whole()) } : {};
}

const send = {
  // A form written in JavaScript, byte by byte.
  library() {
    const form = new ByteForm();
    form.text('meta', meta);
    form.file('image', http.file(picture, 'picture.jpg', 'image/jpeg'));
    return http.post(url, form.finish(), { headers: { 'Content-Type': form.type } });
  },
  // The FormData of the standard.
  native() {
    const data = new FormData();
    data.append('meta', meta);
    data.append('image', blob, 'picture.jpg');
    return http.post(url, data);
  },
  // Base64 strings from a SharedArray, joined and decoded.
  base64() {
    const piece = pieces[0];
    return http.post(url, encoding.b64decode(piece.before + piece.picture + piece.after), type);
  },
  // An array of numbers from a SharedArray.
  numbers: () => http.post(url, new Uint8Array(numbers[0]).buffer, type),
  // k6's own multipart.
  file: () => http.post(url, { meta, image: file }),
  // Base64 from setup().
  setup: (data) => http.post(url, encoding.b64decode(data.body), type),
  // All bytes ready in one buffer.
  raw: () => http.post(url, raw, type),
}[form];

// Once per VU: what the server found in the body is what each form has to send. Any answer but 200 is a failure.
function isWhole(response) {
  if (response.status !== 200) return false;
  if (__ITER > 0) return true;
  const parts = response.json('parts');
  const [text, image] = ['meta', 'image'].map((name) => parts.find((part) => part.name === name));
  return (
    parts.length === 2 &&
    // Base64 needs a few spaces.
    text.bytes >= meta.length &&
    text.bytes < meta.length + 3 &&
    image.filename === 'picture.jpg' &&
    image.type === 'image/jpeg' &&
    image.sha256 === crypto.sha256(picture, 'hex')
  );
}

export default function (data) {
  const response = send(data);
  check(response, { 'both parts arrive': isWhole });
}
