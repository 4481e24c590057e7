// Messages of JSON.parse about objects, texts that are cut off, and texts behind the value.
const texts = [{}, { a: 1 }, [], [1], [1, 2], () => 1, true, 5, new Date(0), { toString() { return '[1]'; } }, 'nul', 'tru', '1.', '-', '1e', '"abc', '{"a', '{"a":"b', '[1,"x', '{}x', '{}{', '{"a":1}\n{"b":2}', '[][', '{},', 'null x', ' [1] ', '[1]\n'];
export default function () {
  for (const text of texts) {
    try { console.log(JSON.stringify(JSON.parse(text))); } catch (e) { console.log(e.name, e.message); }
  }
}
