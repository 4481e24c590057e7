// gRPC: a call with a description from a file, another with one that the server tells, and what errors look like.

import grpc from 'k6/net/grpc';
import { check } from 'k6';

const address = __ENV.DEMO_GRPC || '127.0.0.1:50051';

export const options = {
  vus: 2,
  iterations: 20,
  thresholds: {
    checks: ['rate==1'],
    grpc_req_duration: ['p(95)<500'],
  },
};

const described = new grpc.Client();
described.load(['data'], 'hello.proto');

const told = new grpc.Client();

export default function () {
  // Connected once for each VU: the connection is kept for its next iterations.
  if (__ITER === 0) {
    described.connect(address, { plaintext: true });
    told.connect(address, { plaintext: true, reflect: true });
  }

  const hello = described.invoke('hello.HelloService/SayHello', { greeting: 'Ada' }, { metadata: { 'x-request': `${__ITER}` } });
  check(hello, {
    'status is OK': (r) => r.status === grpc.StatusOK,
    'greets': (r) => r.message.reply === 'hello Ada',
  });

  const place = told.invoke('main.FeatureExplorer/GetFeature', { latitude: 596120450, longitude: 106631200 });
  check(place, { 'is the lighthouse': (r) => r.message.name === 'Lighthouse' });

  // The demo target ends a call as its metadata says. Nothing is thrown: the status tells.
  const refused = told.invoke('brunt.demo.Echo/Unary', {}, { metadata: { 'demo-status': `${Number(grpc.StatusPermissionDenied)}`, 'demo-message': 'not today' } });
  check(refused, {
    'is refused': (r) => r.status === grpc.StatusPermissionDenied,
    'says why': (r) => r.error?.message === 'not today',
  });
}
