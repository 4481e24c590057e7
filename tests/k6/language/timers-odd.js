// Timers with odd arguments.
const tried = (f) => { try { return typeof f(); } catch (e) { return String(e); } };
export default function () {
  console.log(tried(() => setTimeout()), tried(() => setTimeout(null, 1)), tried(() => setTimeout('code', 1)), tried(() => setTimeout({}, 1)), tried(() => setInterval(5, 1)), tried(() => setInterval()));
  setTimeout(() => console.log('late'), 30);
  for (const [at, delay] of ['Infinity', 'NaN', '-5', '{}', 'abc', '1e300'].entries()) setTimeout((a) => console.log('soon', typeof a), { Infinity, NaN, '{}': {}, '1e300': 1e300 }[delay] ?? delay, at);
  setTimeout((a, b) => console.log(a, b), 10, 'x', 'y');
}
