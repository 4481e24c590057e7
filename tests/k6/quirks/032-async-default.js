// 32: the default function may be async, and what it returns is ignored
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
export default async function () { await wait(20); console.log('waited'); return { a: 1 }; }
