// CommonJS as compilers write it, with its helpers, loads
import Pilot, { Wind, draught, fetcher, one, rescue } from './lib/compiled.js';
export default async function () {
  console.log(new Pilot().greet(), Wind.Gale, Wind[0], fetcher, one, await draught(), await rescue());
}
