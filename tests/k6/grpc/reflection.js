// A server that tells what it has, one that does not, and calls that are not waited for.
import grpc from 'k6/net/grpc';

const client = new grpc.Client();

export default async function () {
  client.connect(__ENV.DEMO_GRPC, { plaintext: true, reflect: true });
  console.log(client.invoke('main.FeatureExplorer/GetFeature', { latitude: 596120450, longitude: 106631200 }).message.name);
  const all = await Promise.all(['a', 'b', 'c'].map((greeting) => client.asyncInvoke('hello.HelloService/SayHello', { greeting })));
  console.log(all.map((r) => r.message.reply).join());
  for (const args of [['x/y', {}], ['hello.HelloService/SayHello', { nope: 1 }], ['hello.HelloService/SayHello', {}, { nope: 1 }], ['hello.HelloService/SayHello']]) {
    await client.asyncInvoke(...args).catch((error) => console.log(String(error).replace(/\u00a0/g, ' ').replace('GoError: ', '').replace('Error: ', '')));
  }
  client.close();
}
