// Methods with unexpected arguments.
import { parseHTML } from 'k6/html';

const page = '<ul id=u><li id=a data-x=1 data-foo-bar="[1,2]">1<li id=b class=x>2 <b>bold</b><li id=c>3</ul><p id=p class="x y">para</p><form id=f action=/q><input name=i value=v id=i><input type=checkbox name=c checked=checked><select name=s multiple><option value=1 selected>one<option selected>two</select><textarea name=t>text</textarea></form>';
const many = { null: [null], undefined: [undefined], number: [5], negative: [-1], far: [-9], big: [99], fraction: [1.7], nan: [NaN], infinity: [Infinity], digits: ['1'], word: ['x'], empty: [''], li: ['li'], bad: ['p['], object: [{}], array: [[]], words: [['li']], true: [true], always: [() => true], never: [() => false], nothing: [() => undefined], first: [(i) => i], date: [new Date(0)], pattern: [/li/], two: ['li', '.x'], nulls: [null, '.x'], undefineds: [undefined, '.x'] };
const slices = [[], [0], [1], [2], [3], [-1], [-2], [-3], [0, 1], [0, 3], [1, 2], [1, 3], [2, 3], [0, -1], [1, -1], [-2, -1], [-3, 2], ['1', '2'], [undefined], [null], [1.9], [true]];

function shown(value) {
  if (value === undefined || value === null) return String(value);
  if (typeof value === 'function') return 'function';
  if (Array.isArray(value)) return `[${value.map(shown)}]`;
  if (typeof value === 'object' && typeof value.toArray === 'function') return `nodes(${value.map((i, one) => one.attr('id') || one.get(0).nodeName())})`;
  if (typeof value === 'object' && typeof value.nodeName === 'function') return `element(${value.id() || value.nodeName()})`;
  return JSON.stringify(value);
}
// Each answer with what gave it.
function grouped(answers) {
  const groups = {};
  for (const name in answers) (groups[answers[name]] ||= []).push(name);
  return Object.keys(groups).sort().map((answer) => `${groups[answer].join(' ')}: ${answer}`).join('; ');
}
function attempt(run) {
  try { return shown(run()); } catch (error) { return `${error.name} ${error.message}`; }
}
export default function () {
  const doc = parseHTML(page);
  const starts = { li: doc.find('li'), doc, none: doc.find('nope'), form: doc.find('form'), b: doc.find('b') };
  const nodes = { selection: [doc.find('li')], one: [doc.find('.x')], element: [doc.find('b').get(0)], item: [doc.find('li').get(1)], none: [doc.find('zz')], narrowed: [doc.find('#c'), '.x'], attribute: [doc.find('p').get(0).getAttributeNode('id')], plain: [doc.find('li').get(0).element] };
  const methods = 'add attr children closest contents data each end eq filter find first get has html index is last map next nextAll nextUntil not parent parents parentsUntil prev prevAll prevUntil serialize serializeArray siblings size text toArray val'.split(' ');
  for (const method of methods) {
    for (const start in starts) {
      // k6 1.8 has no siblings of a document: it panics.
      if (method === 'siblings' && start === 'doc') continue;
      const answers = {};
      if (method !== 'filter' && method !== 'is') answers.without = attempt(() => starts[start][method]());
      for (const name in many) answers[name] = attempt(() => starts[start][method](...many[name]));
      for (const name in nodes) answers[`nodes ${name}`] = attempt(() => starts[start][method](...nodes[name]));
      console.log(method, start, grouped(answers));
    }
  }
  console.log('slice', JSON.stringify(slices.map((bounds) => attempt(() => doc.find('li').slice(...bounds)))));
  console.log('get', JSON.stringify([-4, -3, -2, -1, 0, 1, 2, 3].map((index) => attempt(() => doc.find('li').get(index)))));
  console.log('eq', JSON.stringify([-4, -3, -2, -1, 0, 1, 2, 3].map((index) => attempt(() => doc.find('li').eq(index)))));
  const elements = { item: doc.find('li').get(1), p: doc.find('p').get(0), input: doc.find('#i').get(0), text: doc.find('p').contents().get(0), doc: doc.get(0), form: doc.find('form').get(0), select: doc.find('select').get(0), option: doc.find('option').get(0) };
  for (const name in elements) {
    const element = elements[name];
    for (const method of Object.keys(element)) {
      if (typeof element[method] !== 'function') continue;
      // k6 1.8 panics, or answers in no order.
      if (/^(attributes|contains|isEqualNode|isSameNode|firstChild|lastChild|nextSibling|previousSibling|parentNode)$/.test(method)) continue;
      const answers = { without: attempt(() => element[method]()) };
      for (const kind of ['null', 'undefined', 'number', 'word', 'li', 'bad', 'object', 'empty', 'always']) answers[kind] = attempt(() => element[method](...many[kind]));
      console.log(name, method, grouped(answers));
    }
    for (const method of ['contains', 'isEqualNode', 'isSameNode']) {
      console.log(name, method, Object.keys(nodes).map((kind) => attempt(() => element[method](...nodes[kind]))).join());
    }
  }
  const kinds = 'a area base button canvas col datalist del fieldset form iframe img input label li link meta ol optgroup option pre script select table tbody td textarea tfoot th thead title tr ul video'.split(' ');
  for (const kind of kinds) {
    const inside = /^(col|tbody|td|tfoot|th|thead|tr)$/.test(kind) ? `<table><${kind}></table>` : `<${kind}></${kind}>`;
    const own = parseHTML(inside);
    console.log(kind, attempt(() => own.find(own.find(kind).get(0))));
  }
}
