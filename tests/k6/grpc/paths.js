// Where load() finds files: without import paths beside the script, and a name may lead out of its folder.
import grpc from 'k6/net/grpc';

const show = (client, paths, ...files) => {
  try {
    console.log(client.load(paths, ...files).map((m) => m.full_method).sort().join());
  } catch (e) {
    console.log('threw', e.name);
  }
};
const client = new grpc.Client();
show(client, [], '../../../crates/demo/proto/hello.proto');
show(new grpc.Client(), null, '../../../crates/demo/proto/hello.proto');
show(new grpc.Client(), ['../../../crates/demo/proto'], './hello.proto');
show(new grpc.Client(), ['../../../crates'], 'demo/proto/../proto/hello.proto');
show(new grpc.Client(), ['../..', '../../../crates/demo/proto'], 'hello.proto');
show(new grpc.Client(), [], '../../../crates/demo/proto/none.proto');

export default function () {
  client.connect(__ENV.DEMO_GRPC, { plaintext: true });
  console.log(client.invoke('hello.HelloService/SayHello', { greeting: 'Ada' }).message.reply);
  client.close();
}
