// 147: recursion without an end is an error that can be caught
let depth = 0;
function deeper() { depth += 1; return deeper() + 1; }
export default function () {
  try { deeper(); } catch (error) { console.log(error.name, error instanceof RangeError, depth > 100); }
  deeper();
}
