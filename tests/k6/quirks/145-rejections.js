// 145: an unhandled rejection ends the iteration
export const options = { iterations: 3 };
export default async function () {
  if (__ITER === 0) Promise.reject(new Error('nobody waits'));
  else if (__ITER === 1) throw new Error('thrown');
  else await Promise.reject(5);
}
