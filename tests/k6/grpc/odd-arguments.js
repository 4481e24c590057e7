// Arguments of k6/net/grpc of wrong types and values
import grpc from 'k6/net/grpc';

const client = new grpc.Client();
const tell = (name, run) => {
  try {
    console.log(name, JSON.stringify(run()));
  } catch (error) {
    console.log(name, error.name, error.message);
  }
};
for (const paths of [0, true, 'x']) tell('paths', () => client.load(paths, 'hello.proto').length);
client.load(['../../../crates/demo/proto'], 'hello.proto');
const method = 'hello.HelloService/SayHello';

export default function () {
  const connect = (params) => {
    const other = new grpc.Client();
    const is = other.connect(__ENV.DEMO_GRPC, { plaintext: true, ...params });
    other.close();
    return is;
  };
  for (const timeout of [0, -1, NaN, '0s', '5m5', '1 s', {}, true]) tell(`timeout ${timeout}`, () => connect({ timeout }));
  for (const reflect of [Infinity, [1, null], { a: null }, null]) tell('reflect', () => connect({ reflect }));
  for (const reflectMetadata of [[], ['a'], new Map()]) tell('metadata', () => connect({ reflectMetadata }));
  for (const maxSendSize of [1e21, 1.5, '5']) tell('size', () => connect({ maxSendSize }));
  for (const tls of [[], [1], { cert: 'x' }, { key: 'x' }, { cert: null }]) tell('tls', () => connect({ tls }));
  tell('authority', () => connect({ authority: '' }));
  client.connect(__ENV.DEMO_GRPC, { plaintext: true });
  const call = (params) => client.invoke(method, { greeting: 'x' }, params).error;
  for (const timeout of [0, '0s', -1, NaN]) tell(`call ${timeout}`, () => call({ timeout }));
  for (const metadata of [[], ['a']]) tell('call metadata', () => call({ metadata }));
  for (const name of ['', undefined, null, 'x', 'hello.HelloService/Nope']) tell(`stream ${name}`, () => typeof new grpc.Stream(client, name));
  const stream = new grpc.Stream(client, 'hello.HelloService/BidiHello');
  for (const handler of [undefined, null, 5, 'x', {}]) tell('handler', () => stream.on('data', handler));
  for (const event of [undefined, null, 'x']) tell('event', () => stream.on(event, () => 1));
  stream.end();
}
