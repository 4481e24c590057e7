// JSON.stringify with indentation: after what is empty, the lines within its later siblings stand one gap deeper
export default function () {
  const values = [
    { a: [], b: { c: 1 } }, { a: {}, b: { c: 1 } }, [[], [], [1, { a: 2 }], 3], { a: { b: [] }, c: { d: 1 } }, [[[]], [1]],
    { a: [], b: [], c: { d: [], e: { f: 1 } }, g: { h: 1 }, i: 1 }, { a: { u: undefined }, b: { c: 1 } }, { a: new Map(), b: { c: 1 } },
    { a: [], b: 1, c: { toJSON() { return { x: { y: 1 } }; } } }, { a: [undefined], b: { c: 1 } }, { a: [], b: [] }, [{}, 1, 'text', [2]],
  ];
  for (const value of values) for (const gap of [1, '--']) console.log(JSON.stringify(value, null, gap));
  console.log(JSON.stringify(values[0], ['a', 'b', 'c'], 1), JSON.stringify(values[0], (key, value) => value, 1), JSON.stringify(values[0]));
  try { const round = { a: [], b: {} }; round.b.c = round; JSON.stringify(round, null, 1); } catch (e) { console.log(e.name); }
  console.log(JSON.stringify({ a: [], b: { c: 1 } }, null, 1));
}
