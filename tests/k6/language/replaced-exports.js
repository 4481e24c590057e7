// Imports by name follow what a script puts in place on the default export of k6/http, k6/ws and k6/html.
import http, { get, request as asked } from 'k6/http';
import * as everything from 'k6/http';
import ws, { connect } from 'k6/ws';
import html, { parseHTML } from 'k6/html';
import k6, { check } from 'k6';
import encoding, { b64encode } from 'k6/encoding';

const original = http.get;
http.get = (url) => `instead of ${url}`;
http.request = undefined;
ws.connect = () => 'no socket';
html.parseHTML = () => 'no document';
k6.check = () => 'no check';
encoding.b64encode = () => 'no text';

export default function () {
  console.log(get('a'), everything.get('b'), http.get('c'), typeof asked);
  console.log(connect('d'), parseHTML('e'));
  console.log(k6.check !== check, b64encode('f'));
  http.get = original;
  console.log(get === original, everything.get === original, Object.keys(http).includes('get'));
  try {
    asked('GET', 'g');
  } catch (error) {
    console.log(String(error));
  }
  try {
    everything.get = 1;
  } catch (error) {
    console.log(error.name);
  }
  http.post = function post() { return 'later'; };
  console.log(everything.post());
}
