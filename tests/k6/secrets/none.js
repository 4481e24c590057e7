// k6/secrets without a source: every question is refused, each by its own promise.
import secrets from 'k6/secrets';
const said = (error) => error.message || String(error);

export default async function () {
  console.log(Object.keys(secrets).sort().join());
  console.log(typeof secrets.source('x').get);
  for (const ask of [() => secrets.get('a'), () => secrets.source('x').get('a'), () => secrets.get()]) {
    try { await ask(); } catch (error) { console.log(said(error)); }
  }
}
