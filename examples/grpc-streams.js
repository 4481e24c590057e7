// gRPC streams: what the server sends many of, what we send many of, and a chat of both.

import { Client, Stream } from 'k6/net/grpc';
import { check } from 'k6';

const address = __ENV.DEMO_GRPC || '127.0.0.1:50051';

export const options = {
  vus: 2,
  iterations: 10,
  thresholds: {
    checks: ['rate==1'],
    grpc_streams_msgs_received: ['count>0'],
  },
};

const client = new Client();

/** Sends messages and collects what comes back until the stream ends. */
function talk(method, messages) {
  return new Promise((resolve, reject) => {
    const received = [];
    const stream = new Stream(client, method, { timeout: '10s' });
    stream.on('data', (message) => received.push(message));
    stream.on('error', (error) => reject(new Error(error.message)));
    stream.on('end', () => resolve(received));
    messages.forEach((message) => stream.write(message));
    stream.end();
  });
}

export default async function () {
  client.connect(address, { plaintext: true, reflect: true });

  const lo = { latitude: 590000000, longitude: 100000000 };
  const hi = { latitude: 610000000, longitude: 112000000 };
  const features = await talk('main.FeatureExplorer/ListFeatures', [{ lo, hi }]);
  check(features, { 'all places are inside': (list) => list.length === 10 });

  const route = features.slice(0, 3).map((feature) => feature.location);
  const [summary] = await talk('main.RouteGuide/RecordRoute', route);
  check(summary, { 'the route has its points': (s) => s.pointCount === 3 && s.featureCount === 3 });

  const notes = await talk('main.RouteGuide/RouteChat', [
    { location: route[0], message: 'first' },
    { location: route[0], message: 'second' },
  ]);
  check(notes, { 'notes come back': (list) => list.map((note) => note.message).join() === 'first,first,second' });

  client.close();
}
