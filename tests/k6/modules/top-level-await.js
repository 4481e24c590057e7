// Top-level await in a module
const wait = (ms, v) => new Promise((done) => setTimeout(() => done(v), ms));
const value = await wait(10, 'awaited');
export const options = await wait(5, { iterations: 2 });
export default function () { console.log(value, __ITER); }
