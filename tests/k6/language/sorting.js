// Sorting: with functions of all kinds, stable, with holes, and with exceptions
export default function () {
  const lists = [[3, 1, 2], [5, 2, 8, 1, 9, 3, 7], Array.from({ length: 70 }, (_, index) => (index * 17) % 71)];
  const functions = {
    difference: (a, b) => a - b, falling: (a, b) => b - a, none: () => 0, nothing: () => undefined, nan: () => NaN,
    text: (a, b) => String(a - b), parts: (a, b) => (a - b) / 10, parity: (a, b) => (a % 2) - (b % 2), object: (a, b) => ({ valueOf: () => a - b }),
  };
  for (const [name, compare] of Object.entries(functions)) {
    for (const list of lists) console.log(name, [...list].sort(compare).join());
  }
  console.log([10, 9, 1, 'b', 'a', undefined, , null, true].sort().join(), [3, undefined, 1, , 2].sort((a, b) => a - b).join());
  const words = ['pear', 'fig', 'apple', 'plum', 'kiwi', 'date', 'lime', 'melon', 'nut'];
  console.log([...words].sort((a, b) => a.length - b.length).join(), [...words].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)).join());
  const ranked = Array.from({ length: 600 }, (_, at) => ({ at, rank: (at * 7919) % 13 })).sort((a, b) => a.rank - b.rank);
  console.log(ranked.every((one, i) => i === 0 || ranked[i - 1].rank < one.rank || ranked[i - 1].at < one.at));
  console.log([...new Int16Array([5, -2, 300, 0]).sort()].join(), [...new Float64Array([5, -2, NaN, -0, 0]).sort((a, b) => b - a)].length);
  let count = 0;
  try { [3, 1, 2, 5, 4].sort(() => { count += 1; if (count === 3) throw new Error('enough'); return 0; }); } catch (e) { console.log(e.message, count); }
  for (const wrong of [null, 1, 'x', {}]) try { [2, 1].sort(wrong); } catch (e) { console.log(e.name, e.message); }
}
