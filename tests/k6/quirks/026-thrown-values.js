// 26: what is thrown need not be an error
export const options = { iterations: 6 };
export default function () {
  throw [undefined, null, 'text', 5, { a: 1 }, [1, 2]][__ITER];
}
