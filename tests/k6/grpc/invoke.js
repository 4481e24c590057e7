// Calls of one message: what comes back, in good and in bad cases.
import grpc from 'k6/net/grpc';
import { check } from 'k6';

const client = new grpc.Client();
const methods = client.load(['../../../crates/demo/proto'], 'hello.proto');
console.log(methods.map((m) => `${m.full_method} ${m.package} ${m.service} ${m.name} ${m.is_client_stream} ${m.is_server_stream}`).join('\n'));
client.load(['../../../crates/demo/proto'], 'brunt/demo.proto');

export default function () {
  console.log(client.connect(__ENV.DEMO_GRPC, { plaintext: true }));
  const hello = client.invoke('hello.HelloService/SayHello', { greeting: 'Ada' });
  check(hello, { 'status is OK': (r) => r && r.status === grpc.StatusOK, 'has a reply': (r) => r.message.reply === 'hello Ada' });
  console.log(Object.keys(hello).join(), JSON.stringify(hello.message), hello.error, JSON.stringify(hello.headers), JSON.stringify(hello.trailers));
  console.log(client.invoke('/hello.HelloService/SayHello', {}).message.reply);
  const echo = (metadata, params = {}) => client.invoke('brunt.demo.Echo/Unary', { aString: 'x' }, { metadata, ...params });
  const seen = echo({ 'X-Mine': 'yes', 'x-bytes-bin': new Uint8Array([97, 98]) });
  console.log(seen.headers['x-mine'].join(), seen.trailers['tx-mine'].join(), seen.headers['x-bytes-bin'].join(), seen.headers['got-te'].join());
  for (const code of [1, 3, 5, 7, 12, 13, 14, 16, 77]) {
    const r = echo({ 'demo-status': `${code}`, 'demo-message': 'a % !' });
    console.log(r.status == code, r.error.code, r.error.message, r.error.details.length, r.message.aString, JSON.stringify(r.headers));
  }
  const detailed = echo({ 'demo-status': '9', 'demo-details': 'why' });
  console.log(detailed.error.details[0]['@type'], detailed.error.details[0].aString);
  for (const code of [0, 1, 2, 8, 11, 12]) {
    const r = echo({ 'demo-reset': `${code}` });
    console.log(r.error.code, r.error.message);
  }
  const late = echo({ 'demo-delay': '2000' }, { timeout: '100ms' });
  console.log(late.status == grpc.StatusDeadlineExceeded, late.error.message);
  console.log(echo({ 'x-a': 'ä' }).error.message);
  console.log(echo({ 'demo-size': '5000000' }).error.message);
  console.log(echo({ 'demo-compressed': '1' }).error.message);
  console.log(echo({ 'demo-garbage': '1' }).error.message.replace(/\u00a0/g, ' '));
  console.log(JSON.stringify(echo({}, { discardResponseMessage: true }).message));
  console.log(echo({}, { tags: { mine: 1 } }).status == 0, echo({}, { timeout: 5000 }).status == 0);
  const many = client.invoke('hello.HelloService/LotsOfReplies', { greeting: 'x' });
  console.log(many.error.code, many.message.reply);
  client.close();
  client.close();
}
