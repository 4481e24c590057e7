// The text between two others; an empty one is the begin or the end.
function between(text, left, right, nth = 0) {
  const after = left === '' ? text : text.split(left).slice(nth + 1).join(left);
  const end = right === '' ? after.length : after.indexOf(right);
  if (end < 0 || (left !== '' && text.split(left).length < nth + 2)) return undefined;
  return after.slice(0, end);
}
