// A random UUID.
function uuid() {
  const digit = (mask, or) => ((Math.random() * 16) & mask | or).toString(16);
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'
    .replace(/x/g, () => digit(15, 0))
    .replace(/y/g, () => digit(3, 8));
}
