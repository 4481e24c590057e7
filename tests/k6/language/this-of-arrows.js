// The `this` of a module is undefined; that of its outermost arrow functions is the global object.
export const options = { iterations: 1 };
const kind = (value) => (value === globalThis ? 'global' : typeof value);
console.log('module', kind(this));
const arrow = () => kind(this);
const nested = () => [1].map(() => kind(this))[0];
const later = async () => {
  await null;
  return kind(this);
};
const object = { name: 'mine', told: () => this.name, own() { return [this.name, (() => this.name)()].join(); } };
function plain() {
  return [kind(this), (() => kind(this))()].join();
}
class Kept {
  field = (() => kind(this))();
  method() { return (() => kind(this))(); }
}
export default async () => {
  console.log('default', kind(this), typeof this);
  console.log('arrow', arrow(), 'nested', nested(), 'async', await later());
  console.log('object', object.told(), object.own());
  console.log('plain', plain(), 'class', new Kept().field, new Kept().method());
  this.given = 5;
  console.log('given', given);
};
