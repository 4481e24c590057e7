// A message to an MQTT broker and back. Run it with a broker:
//
//   brunt run -e MQTT_URL=mqtt://127.0.0.1:1883 examples/mqtt.js

import exec from 'k6/execution';
import http from 'k6/http';
import { Client } from 'k6/x/mqtt';
import { check } from 'k6';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

export const options = {
  iterations: 3,
  thresholds: {
    checks: ['rate==1'],
    mqtt_errors: ['count==0'],
  },
};

export function setup() {
  if (!__ENV.MQTT_URL) console.warn('MQTT_URL names no broker: HTTP carries the message');
}

export default function () {
  const message = `hello ${exec.scenario.iterationInTest}`;
  const came = (text) => check(text, { 'the message came back': () => text.includes(message) });
  if (!__ENV.MQTT_URL) {
    came(http.post(`${base}/anything`, message).body);
    return;
  }
  const topic = `brunt/example/${exec.vu.idInTest}`;
  const client = new Client();
  client.on('connect', () => {
    client.subscribe(topic, { qos: 1 });
    client.publish(topic, message, { qos: 1 });
  });
  client.on('message', (_, payload) => {
    came(String.fromCharCode(...new Uint8Array(payload)));
    client.end();
  });
  client.connect(__ENV.MQTT_URL);
}
