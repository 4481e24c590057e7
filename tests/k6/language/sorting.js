// Sorting with a function that contradicts itself, and the order in which functions are asked
export default function () {
  const lists = [[3, 1, 2], [5, 2, 8, 1, 9, 3, 7], ['b', 'a', 'c'], Array.from({ length: 70 }, (_, index) => (index * 17) % 71)];
  const functions = {
    greater: (a, b) => a > b, less: (a, b) => a < b, oneOrNone: (a, b) => (a > b ? 1 : 0), minusOneOrNone: (a, b) => (a < b ? -1 : 0), oneOrMinusOne: (a, b) => (a > b ? 1 : -1),
    difference: (a, b) => a - b, falling: (a, b) => b - a, none: () => 0, one: () => 1, minusOne: () => -1, nothing: () => undefined, nan: () => NaN, text: (a, b) => String(a - b), parts: (a, b) => (a - b) / 10, parity: (a, b) => (a % 2) - (b % 2),
  };
  for (const [name, compare] of Object.entries(functions)) {
    for (const list of lists) {
      const asked = [];
      const sorted = [...list].sort((a, b) => { asked.push(`${a}${b}`); return compare(a, b); });
      console.log(name, sorted.join(), asked.slice(0, 25).join(' '));
    }
  }
  console.log([{ name: 'x', rank: 1 }, { name: 'y', rank: 0 }, { name: 'z', rank: 1 }].sort((a, b) => a.rank - b.rank).map((one) => one.name).join(), [3, undefined, 1, , 2].sort((a, b) => a > b).join());
  let count = 0;
  try { [3, 1, 2, 5, 4].sort((a, b) => { count += 1; if (count === 3) throw new Error('enough'); return a - b; }); } catch (e) { console.log(e.message, count); }
}
