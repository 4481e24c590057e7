// Promises run before timers, in order
export default async function () {
  const seen = [];
  setTimeout(() => seen.push('timer'), 0);
  Promise.resolve().then(() => seen.push('p1')).then(() => seen.push('p2'));
  (async () => { seen.push('a1'); await null; seen.push('a2'); })();
  seen.push('sync');
  await new Promise((done) => setTimeout(done, 10));
  console.log(seen.join());
  console.log(JSON.stringify(await Promise.allSettled([1, Promise.reject(new Error('x')), new Promise((r) => setTimeout(r, 1, 'v'))])));
  console.log(await Promise.race([new Promise((r) => setTimeout(r, 50, 'slow')), new Promise((r) => setTimeout(r, 1, 'fast'))]), await Promise.any([Promise.reject(1), 2]));
  try { await Promise.any([Promise.reject(1)]); } catch (e) { console.log(e.name, e.errors.join()); }
}
