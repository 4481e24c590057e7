// Values that are no errors have no place of their own: the log shows the place of `throw`.
export const options = { vus: 1, iterations: 4 };
function thrown(n) {
  if (n === 0) throw 'text';
  if (n === 1) { throw   { a: 1 }; }
  if (n === 2) throw (
    1 + 2);
  throw [n,
    n];
}
export default function () {
  thrown(__ITER);
}
