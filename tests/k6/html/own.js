// Methods of selections, elements and attributes are the objects' own, bound to them, and shown by the console.
import { parseHTML } from 'k6/html';

const page = '<a id=x href="/q?y#z">t</a><p id=p class=c>u</p><form id=f><input id=i name=n value=v><button>b</button></form><del>d</del><table><tr><td>1<th>2</table><video></video>text<!--c-->';
function attempt(what, run) {
  try { console.log(what, JSON.stringify(run())); } catch (error) { console.log(what, 'throws', error.name, error.message); }
}
export default function () {
  const doc = parseHTML(page);
  const p = doc.find('p').get(0);
  const a = doc.find('a').get(0);
  console.log(p);
  console.log(a);
  console.log(p.getAttributeNode('id'));
  for (const tag of ['a', 'p', 'form', 'input', 'button', 'del', 'tbody', 'tr', 'td', 'th', 'video', 'body']) {
    const element = doc.find(tag).get(0);
    attempt(tag, () => [element, Object.keys(element)]);
    const shared = Object.keys(element).find((name) => name.endsWith('_element'));
    if (shared) attempt(shared, () => [String(element[shared]), Object.keys(element[shared])]);
    if (element.element) attempt('element', () => [String(element.element), Object.keys(element.element).length]);
  }
  // k6 2 has one more.
  attempt('keys', () => Object.keys(doc).filter((name) => name !== 'single'));
  attempt('attribute', () => Object.keys(p.getAttributeNode('id')));
  attempt('attributes', () => doc.find('a').get(0).attributes().id);
  attempt('owner', () => p.getAttributeNode('id').owner_element.id());
  attempt('destructured', () => { const { id, className, nodeName } = p; return [id(), className(), nodeName()]; });
  attempt('destructured selection', () => { const { find, url } = doc; return [find('p').text(), url]; });
  attempt('destructured attribute', () => { const { name, value, localName, prefix } = p.getAttributeNode('class'); return [name, value, localName(), prefix()]; });
  attempt('call', () => p.id.call(a));
  attempt('map', () => ['p', 'a', 'td'].map(doc.find).map((found) => found.size()));
  attempt('same', () => [p.id === p.id, doc.find('p').get(0) === doc.find('p').get(0), p.isSameNode(doc.find('p').get(0))]);
  attempt('in', () => ['id' in p, 'href' in p, 'href' in a, p.hasOwnProperty('id'), doc.hasOwnProperty('find'), doc.hasOwnProperty('nope')]);
  attempt('set', () => { p.foo = 5; });
  attempt('replace', () => { p.id = () => 'mine'; });
  attempt('delete', () => { delete p.className; });
  attempt('delete none', () => delete p.nope);
  attempt('set on a selection', () => { doc.find = 1; });
  attempt('delete of a selection', () => { delete doc.text; });
  attempt('text', () => ['' + p, String(a), `${doc}`, a.toString(), '' + a.element, '' + doc.find('input').get(0)]);
  attempt('spread', () => Object.keys({ ...p }).length);
  attempt('assigned', () => Object.assign({}, p).id());
  attempt('entries', () => Object.entries(doc).filter(([name]) => name !== 'single').length);
  attempt('for in', () => { const names = []; for (const name in a) names.push(name); return names; });
  attempt('lengths', () => [p.id.length, doc.find.length, a.href.length]);
  attempt('none', () => { p.nope(); });
  attempt('object', () => { doc.nope(); });
}
