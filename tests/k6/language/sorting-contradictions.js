// Sorting with a function that contradicts itself, such as `(a, b) => a > b`
export default function () {
  const list = [3, 1, 2, 5, 4];
  for (const compare of [(a, b) => a > b, (a, b) => a < b, (a, b) => (a > b ? 1 : 0)]) {
    const sorted = [...list].sort(compare);
    console.log(sorted.join(), sorted.length === new Set(sorted).size);
  }
}
