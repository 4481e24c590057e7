// Uncaught exceptions in async code
export const options = { iterations: 5 };
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
async function deep() { await wait(1); throw new TypeError('deep'); }
export default async function () {
  switch (__ITER) {
    case 0: await deep(); break;
    case 1: deep(); await wait(20); break;
    case 2: await Promise.reject('text'); break;
    case 3: setTimeout(() => { throw new Error('timer'); }, 1); await wait(50); console.log('never'); break;
    default: await wait(1); null.x; // eslint-disable-line
  }
}
