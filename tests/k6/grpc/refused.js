// Exceptions of k6/net/grpc: wrong places, wrong arguments, wrong parameters.
import grpc from 'k6/net/grpc';

const client = new grpc.Client();
const tell = (name, run) => {
  try {
    console.log(name, JSON.stringify(run()));
  } catch (error) {
    console.log(name, error.name, error.message.replace(/\u00a0/g, ' ').replace(/stat .*\/(\w)/, 'stat …/$1'));
  }
};
tell('no such file', () => client.load([], 'nope.proto'));
tell('no files', () => client.load([]));
tell('connect in init', () => client.connect(__ENV.DEMO_GRPC, { plaintext: true }));
tell('invoke in init', () => client.invoke('hello.HelloService/SayHello', {}));
tell('close in init', () => client.close());
tell('no protoset', () => client.loadProtoset('nope.bin'));
client.load(['../../../crates/demo/proto'], 'hello.proto');

export default function () {
  const call = (params) => client.invoke('hello.HelloService/SayHello', { greeting: 'x' }, params).message.reply;
  tell('load', () => client.load([], 'hello.proto'));
  tell('loadProtoset', () => client.loadProtoset('x'));
  tell('not connected', () => call());
  tell('refused', () => new grpc.Client().connect('127.0.0.1:1', { plaintext: true, timeout: '2s' }));
  tell('scheme', () => new grpc.Client().connect('http://127.0.0.1:1', { plaintext: true, timeout: '2s' }));
  tell('no port', () => new grpc.Client().connect('127.0.0.1', { plaintext: true, timeout: '2s' }));
  tell('no address', () => new grpc.Client().connect('', { plaintext: true, timeout: '2s' }));
  for (const [name, params] of Object.entries({
    unknown: { nope: 1 }, plaintext: { plaintext: 1 }, timeout: { timeout: 'x' }, reflect: { reflect: 1 },
    reflectMetadata: { reflectMetadata: 5 }, reflectMetadata2: { reflectMetadata: { a: 1 } }, maxReceiveSize: { maxReceiveSize: 'x' },
    maxReceiveSize2: { maxReceiveSize: -1 }, maxSendSize: { maxSendSize: 'x' }, maxSendSize2: { maxSendSize: -1 }, authority: { authority: 5 },
    tls: { tls: 5 }, cert: { tls: { cert: 5 } }, key: { tls: { key: 5 } }, password: { tls: { password: 5 } }, cacerts: { tls: { cacerts: 5 } },
    pem: { tls: { cert: 'x', key: 'y' }, timeout: '1s' }, cacerts2: { tls: { cacerts: 'nonsense' }, timeout: '1s' },
  })) {
    tell(`connect ${name}`, () => client.connect(__ENV.DEMO_GRPC, params));
  }
  client.connect(__ENV.DEMO_GRPC, { plaintext: true });
  for (const [name, method] of Object.entries({ unknown: 'hello.HelloService/Nope', bad: 'Nope', empty: '', missing: undefined })) {
    tell(`method ${name}`, () => client.invoke(method, {}));
  }
  for (const [name, request] of Object.entries({ missing: undefined, null: null, text: 'x', number: 5, array: [], field: { nope: 1 }, type: { greeting: 5 } })) {
    tell(`request ${name}`, () => client.invoke('hello.HelloService/SayHello', request));
  }
  for (const [name, params] of Object.entries({
    unknown: { nope: 1 }, headers: { headers: {} }, metadata: { metadata: 5 }, none: { metadata: null }, number: { metadata: { a: 1 } },
    list: { metadata: { a: ['1'] } }, binary: { metadata: { 'a-bin': 'text' } }, buffer: { metadata: { 'a-bin': new Uint8Array(1).buffer } },
    timeout: { timeout: 'x' }, object: { timeout: {} }, negative: { timeout: -1, discardResponseMessage: true }, tags: { tags: { a: {} } }, tags2: { tags: 5 }, null: null, text: 'x', five: 5,
  })) {
    tell(`params ${name}`, () => call(params));
  }
  tell('health', () => client.healthCheck());
  tell('sick', () => client.healthCheck('sick'));
  tell('unknown', () => client.healthCheck('what'));
  client.close();
  tell('closed', () => call());
}
