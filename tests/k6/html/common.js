// The methods that all elements have, with arguments; nodes that are no elements.
import { parseHTML } from 'k6/html';

const doc = parseHTML(`<!DOCTYPE html><html><head><title>t</title></head><body><div id="d" class="a b" lang="en" data-x="1" Title="tip">
<p id="p1" class="c b">One <b>bold</b></p><!-- note --><p id="p2" class="c">Two<br>lines</p><span></span>tail</div>
<div id="e"><p>x</p></div><div id="f"><p>x</p></div><svg id="s"><circle r="1"></circle></svg></body></html>`);
const get = (selector) => doc.find(selector).get(0);
const name = (node) => (node === undefined ? 'undefined' : node === null ? 'null' : `${node.nodeName()}/${node.nodeType()}`);
const names = (list) => list.map(name).join(' ');
function attempt(what, run) {
  try { console.log(what, run()); } catch (error) { console.log(what, 'throws', String(error)); }
}

export default function () {
  const d = get('#d');
  attempt('getAttribute', () => [d.getAttribute('id'), d.getAttribute('TITLE'), d.getAttribute('title'), d.getAttribute('none')].map(String).join());
  attempt('getAttribute()', () => String(d.getAttribute()));
  attempt('hasAttribute', () => [d.hasAttribute('id'), d.hasAttribute('ID'), d.hasAttribute('none')].join());
  attempt('node', () => { const a = d.getAttributeNode('data-x'); return [a.name, a.value, a.prefix(), a.localName(), a.namespaceURI()].join('|'); });
  attempt('node none', () => String(d.getAttributeNode('none')));
  attempt('attributes', () => Object.keys(d.attributes()).sort().join());
  attempt('attributes.x', () => d.attributes().id.value);
  attempt('getElementsByClassName', () => names(d.getElementsByClassName('c')));
  attempt('getElementsByClassName 2', () => d.getElementsByClassName('b c').length);
  attempt('getElementsByTagName', () => names(d.getElementsByTagName('p')));
  attempt('getElementsByTagName *', () => d.getElementsByTagName('*').length);
  attempt('querySelector', () => name(d.querySelector('p b')));
  attempt('querySelector none', () => name(d.querySelector('table')));
  attempt('querySelector bad', () => name(d.querySelector('p[')));
  attempt('querySelectorAll', () => names(d.querySelectorAll('p, span')));
  attempt('querySelectorAll none', () => d.querySelectorAll('table').length);
  attempt('matches', () => [d.matches('div'), d.matches('.a.b'), d.matches('p'), d.matches('body > div'), d.matches('p[')].join());
  attempt('contains', () => [d.contains(get('b')), d.contains(d), d.contains(get('#e'))].join());
  attempt('isEqualNode', () => [get('#e p').isEqualNode(get('#f p')), get('#e').isEqualNode(get('#f')), d.isEqualNode(d)].join());
  attempt('isSameNode', () => [d.isSameNode(get('#d')), d.isSameNode(get('#e')), d === get('#d')].join());
  attempt('isDefaultNamespace', () => [d.isDefaultNamespace(), get('circle').isDefaultNamespace()].join());
  attempt('namespaceURI', () => get('circle').namespaceURI());
  attempt('ownerDocument', () => name(d.ownerDocument()));
  attempt('toString', () => `${d} ${get('p')} ${get('a')}`);
  attempt('String(firstChild)', () => `${get('p').firstChild()}`);
  attempt('console', () => { console.log(get('b')); return typeof get('b'); });
  attempt('JSON', () => typeof JSON.stringify(get('b')));
  attempt('selection', () => d.selection().find('p').size());
  attempt('parents', () => { const list = []; for (let one = get('b'); one && list.length < 9; one = one.parentNode()) list.push(name(one)); return list.join(' '); });
  attempt('parentElements', () => { const list = []; for (let one = get('b'); one && list.length < 9; one = one.parentElement()) list.push(name(one)); return list.join(' '); });
  for (const [key, child] of d.childNodes().entries()) {
    attempt(`child ${key}`, () => [name(child), JSON.stringify(child.nodeValue()), JSON.stringify(child.textContent()), child.hasChildNodes(), child.childElementCount(), child.hasAttributes()].join(' '));
    attempt(`child ${key} ids`, () => [child.id(), child.className(), child.lang(), child.classList().length, JSON.stringify(child.innerHTML())].map(String).join(' '));
    attempt(`child ${key} around`, () => [name(child.previousElementSibling()), name(child.nextElementSibling())].join(' '));
    attempt(`child ${key} ${name(child)}`, () => `${child}`);
  }
  attempt('document', () => { const node = doc.get(0); return [name(node), node.childNodes().length, node.childElementCount(), node.textContent(), name(node.firstChild()), name(node.lastChild()), names(node.children())].map(String).join('|'); });
  attempt('html', () => { const node = get('html'); return [name(node.parentNode()), name(node.parentElement()), node.innerHTML().length].join('|'); });
  attempt('text siblings', () => [name(get('#p1').previousSibling()), name(get('#p1').nextSibling()), name(get('#p2').previousSibling()), name(get('span').nextSibling()), name(get('#p1').nextElementSibling())].join());
  attempt('last sibling', () => [name(get('#s').nextElementSibling()), name(get('#d').previousElementSibling())].join());
  attempt('in', () => ['id' in d, 'href' in d, 'nosuch' in d, typeof d.href, Object.keys(d).length > 30].join());
}
