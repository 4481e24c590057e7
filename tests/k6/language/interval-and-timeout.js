// An interval's next run is counted from the end of the last one: a timeout of as many intervals comes before the last.
import { sleep } from 'k6';

export const options = { iterations: 2 };

export default function () {
  const seen = [];
  const id = setInterval(() => {
    seen.push('run');
    if (__ITER === 1) sleep(0.03);
  }, 50);
  setTimeout(() => {
    clearInterval(id);
    console.log(__ITER, seen.length < 4, seen.length);
  }, 200);
  const own = setInterval(() => {
    clearInterval(own);
    console.log('cleared by itself');
  }, 5);
}
