// A status is a number that shows its name; what goes wrong later is an error of Go itself.
import grpc from 'k6/net/grpc';
import { check } from 'k6';

const client = new grpc.Client();
client.load(['../../../crates/demo/proto'], 'brunt/demo.proto');
console.log(`${grpc.StatusNotFound} ${grpc.StatusOK + 0} ${typeof grpc.StatusOK} ${JSON.stringify(grpc.StatusInternal)} ${grpc.StatusOK === 0} ${grpc.StatusOK == 0}`);
console.log(`${grpc.HealthCheckServing} ${grpc.HealthCheckServiceUnkown + 0} ${Object.keys(grpc.HealthCheckUnknown)}`);

export default async function () {
  client.connect(__ENV.DEMO_GRPC, { plaintext: true });
  const show = (error) => {
    console.log(error);
    console.log(`${error}`, typeof error, error instanceof Error, error.stack, JSON.stringify(error));
  };
  for (const code of [0, 5, 77]) {
    const { status } = client.invoke('brunt.demo.Echo/Unary', { aString: 'x' }, { metadata: { 'demo-status': `${code}` } });
    console.log(status);
    console.log('status', status, `${status}`, 'status ' + status, status + 1, status > 4, parseInt(status));
    console.log(status === code, status == code, status === grpc.StatusOK, status === grpc.StatusNotFound, !status, [grpc.StatusOK].includes(status));
    console.log(JSON.stringify({ status }), Object.keys(status).join(), status.string(), status.toFixed(1), { 0: 'zero', OK: 'ok' }[status]);
    switch (status) {
      case grpc.StatusOK: console.log('is OK'); break;
      case 0: console.log('is 0'); break;
      default: console.log('is neither');
    }
    check(status, { [`is ${status}`]: (it) => it, 'is zero': (it) => it === 0, 'equals zero': (it) => it == 0 });
  }
  for (const asked of [['brunt.demo.Echo/None', {}], ['', {}], ['brunt.demo.Echo/Unary', {}, { x: 1 }]]) {
    try { await client.asyncInvoke(...asked); } catch (error) { show(error); }
  }
  const stream = new grpc.Stream(client, 'brunt.demo.Echo/Both', { metadata: { 'demo-status': '7', 'demo-message': 'no' } });
  stream.on('error', (error) => {
    show(error);
    console.log(Object.keys(error).join(), `${error.code}`, error.code === grpc.StatusPermissionDenied, error.message, error.error());
  });
  stream.on('end', () => client.close());
  stream.write({ aString: 'x' });
  stream.end();
}
