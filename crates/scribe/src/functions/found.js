// The value that `take` gives, as text. Without one the iteration ends: nothing is sent with a wrong value.
function found(name, take) {
  let value;
  try {
    value = take();
  } catch (error) {
    // It is not there: not found.
  }
  const isFound = value !== undefined && value !== null && value !== '';
  if (!check(value, { [`found ${name}`]: () => isFound })) fail(`${name} is not in the answer`);
  return String(value);
}
