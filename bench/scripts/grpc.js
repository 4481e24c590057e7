// One unary call and a check, all metrics, tags and thresholds on. Each VU connects once.
import grpc from 'k6/net/grpc';
import { check } from 'k6';

export const options = {
  thresholds: {
    grpc_req_duration: ['p(95)<60000'],
    checks: ['rate>0.99'],
  },
};

const client = new grpc.Client();
client.load([], 'hello.proto');

export default function () {
  if (__ITER === 0) client.connect(__ENV.GRPC, { plaintext: true });
  const response = client.invoke('hello.HelloService/SayHello', { greeting: 'Ada' });
  check(response, { 'status is OK': (r) => r.status === grpc.StatusOK });
}
