// Streams of each kind, one after the other, and how they end.
import grpc from 'k6/net/grpc';

const client = new grpc.Client();
client.load(['../../../crates/demo/proto'], 'hello.proto', 'brunt/demo.proto', 'route_guide.proto');
const tell = (name, run) => {
  try {
    console.log(name, run());
  } catch (error) {
    console.log(name, error.name, error.message.replace(/\u00a0/g, ' '));
  }
};
tell('in init', () => new grpc.Stream(client, 'hello.HelloService/BidiHello'));

const run = (name, method, params, messages, ends = true) => new Promise((resolve) => {
  const stream = new grpc.Stream(client, method, params);
  stream.on('data', (data, about) => console.log(name, 'data', data.reply || data.aString || '-', typeof about.ts));
  stream.on('error', (error) => console.log(name, 'error', Number(error.code), error.message.replace(/\u00a0/g, ' ')));
  stream.on('end', () => {
    console.log(name, 'end');
    resolve();
  });
  messages.forEach((message) => stream.write(message));
  if (ends) stream.end();
});

export default async function () {
  tell('not connected', () => new grpc.Stream(client, 'hello.HelloService/BidiHello'));
  client.connect(__ENV.DEMO_GRPC, { plaintext: true });
  tell('no client', () => new grpc.Stream());
  tell('bad client', () => new grpc.Stream({}, 'x'));
  tell('no method', () => new grpc.Stream(client));
  tell('bad method', () => new grpc.Stream(client, 'x.Y/Z'));
  tell('bad parameter', () => new grpc.Stream(client, 'hello.HelloService/BidiHello', { nope: 1 }));
  tell('bad metadata', () => new grpc.Stream(client, 'hello.HelloService/BidiHello', { metadata: 5 }));

  await run('both', 'hello.HelloService/BidiHello', { tags: { mine: 'yes' }, metadata: { 'x-a': '1' } }, [{ greeting: 'a' }, { greeting: 'b' }]);
  await run('down', 'hello.HelloService/LotsOfReplies', null, [{ greeting: 'a' }], false);
  await run('up', 'hello.HelloService/LotsOfGreetings', undefined, [{ greeting: 'a' }, { greeting: 'b' }]);
  await run('one', 'hello.HelloService/SayHello', undefined, [{ greeting: 'a' }]);
  await run('status', 'brunt.demo.Echo/Both', { metadata: { 'demo-status': '5' } }, [{ aString: 'a' }]);
  await run('late', 'brunt.demo.Echo/Both', { timeout: '200ms' }, [{ aString: 'a' }], false);
  await run('garbage', 'brunt.demo.Echo/Both', { metadata: { 'demo-garbage': '1' } }, [{ aString: 'a' }]);
  await run('size', 'brunt.demo.Echo/Both', { metadata: { 'demo-size': '5000000' } }, [{ aString: 'a' }]);
  await run('repeat', 'brunt.demo.Echo/Down', { metadata: { 'demo-repeat': '20' } }, [{ aString: 'r' }]);

  const empty = new grpc.Stream(client, 'hello.HelloService/BidiHello');
  empty.on('end', () => console.log('empty end'));
  empty.on('nope', () => {});
  tell('no handler', () => empty.on('data'));
  empty.write(null);
  empty.write();
  empty.end();
  empty.end();
  empty.write({ greeting: 'too late' });
}
