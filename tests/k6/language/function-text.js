// The text of functions, and what libraries make of it.
function named(a, b = 1) { /* kept */ return a + b; }
const arrow = (x) => x * 2;
const asynchronous = async function () { await null; };
class Shape { constructor() { this.a = 1; } area() { return 5; } static of() { return new Shape(); } get b() { return 2; } #c = 3; }
const object = { method() { return 1; }, get x() { return 2; } };
function outer() { function inner(deep) { return deep; } return inner; }
console.log(String(named), arrow.toString(), `${asynchronous}`);
export default function () {
  console.log(named.toString() === String(named), named + '', arrow.name, named.length);
  console.log(String(Shape), Shape.prototype.area.toString(), Shape.of.toString());
  console.log(object.method.toString(), Object.getOwnPropertyDescriptor(object, 'x').get.toString());
  console.log(outer().toString());
  console.log(/native code/.test(Array.prototype.map.toString()), /native code/.test(named.toString()));
  console.log(eval('(function (z) { return z; })').toString());
  console.log(named.bind(null).toString().includes('native code'));
  console.log((function () { return 'a string, ä'; }).toString());
}
