// 149: randomSeed fixes Math.random
import { randomSeed } from 'k6';
export default function () {
  randomSeed(1); console.log(Math.random(), Math.random());
  randomSeed(123456789); console.log(Math.random());
  randomSeed(-5); console.log(Math.random());
}
