// Every method of Selection.
import { parseHTML } from 'k6/html';

const doc = parseHTML(`<html><head><title>Page</title></head><body>
<div id="top" class="box" data-a="1" data-b="true" data-c='{"x":[1,2]}' data-d="text" data-e-f="00" data-g="null" data-h="" data-i="1.5" data-j="undefined" data-k="[1" data-l="1e3" data-m="false" data-n="-7" data-o="[1,&quot;a&quot;]" data-upper-Case="u">
<ul id="list" title="T&amp;C"><li class="odd" id="i1">One</li><li class="even" id="i2">Two <b>bold</b></li><li class="odd" id="i3">Three</li><li class="even last" id="i4">Four</li></ul>
<p id="p1">Para &lt;1&gt;</p><!-- c --><p id="p2" class="odd">Para 2 <a href="/x">link</a></p></div>
<form id="form"><input name="z" value="last"><input name="a" value="first &amp; é"><input type="checkbox" name="c1" checked="checked" value="on1"><input type="checkbox" name="c2" checked value="on2"><input type="checkbox" name="c3" value="on3">
<input type="radio" name="r" value="1"><input type="radio" name="r" value="2" checked="checked"><input type="checkbox" name="c4" checked="checked"><input type="radio" name="r2">
<input type="hidden" name="h" value="hid"><input type="submit" name="s" value="go"><input type="button" name="bt" value="b"><input type="reset" name="rs"><input type="image" name="im"><input type="file" name="fi"><input name="dis" value="d" disabled><input value="noname"><input name="" value="emptyname"><input name="z" value="again"><input name="novalue">
<textarea name="t">text
 <b>area</b></textarea><textarea name="t2" value="v"></textarea><select name="sel"><option value="1">1</option><option selected>two</option></select><select name="multi" multiple><option selected value="x">X</option><option>Y</option><option selected>Z z</option></select>
<select name="none"><option value="1">1</option></select><select name="emptymulti" multiple><option>1</option></select><select name="empty"></select><button name="btn" value="bv">B</button><button name="btn2" type="button">B2</button><object name="o"></object></form>
<table id="t"><tr><td>1</td></tr></table></body></html>`);

const ids = (selection) => (selection === undefined ? 'undefined' : `${selection.size()}: ${selection.map((i, one) => one.attr('id') || one.get(0).nodeName()).join(' ')}`);
function attempt(what, run) {
  try {
    const value = run();
    console.log(what, value === undefined ? 'undefined' : typeof value === 'string' ? value : JSON.stringify(value));
  } catch (error) { console.log(what, 'throws', String(error).replace(/ at .*/s, '')); }
}

export default function () {
  const list = doc.find('li');
  const i2 = doc.find('#i2');
  const none = doc.find('nosuch');
  attempt('url', () => String(doc.url));
  attempt('size', () => [doc.size(), list.size(), none.size(), list.length].map(String).join());
  attempt('add string', () => ids(i2.add('p')));
  attempt('add selection', () => ids(i2.add(doc.find('p'))));
  attempt('add element', () => ids(i2.add(doc.find('#i1').get(0))));
  attempt('add same', () => ids(list.add('#i1')));
  attempt('add nothing', () => ids(i2.add()));
  attempt('attr', () => [list.attr('id'), list.attr('none'), list.attr('none', 'dflt'), none.attr('id'), none.attr('id', 'd'), list.attr('CLASS')].map(String).join());
  attempt('attr entity', () => doc.find('ul').attr('title'));
  attempt('attr default kinds', () => [list.attr('none', 5), list.attr('none', null), list.attr('none', undefined)].map(String).join());
  attempt('children', () => [ids(doc.find('#top').children()), ids(doc.find('#top').children('p')), ids(doc.find('#top').children('.odd'))].join('; '));
  attempt('closest', () => [ids(doc.find('b').closest('li')), ids(doc.find('b').closest('b')), ids(list.closest('ul')), ids(list.closest('table')), ids(doc.find('b').closest(doc.find('#top')))].join('; '));
  attempt('contents', () => [doc.find('#top').contents().size(), doc.find('#p2').contents().map((i, one) => one.get(0).nodeName()).join()].join());
  attempt('data all', () => { const all = doc.find('#top').data(); return Object.keys(all).sort().map((key) => `${key}=${JSON.stringify(all[key])}`).join(' '); });
  for (const key of ['a', 'b', 'c', 'd', 'e-f', 'eF', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'none', 'upperCase', 'uppercase', 'upper-case']) attempt(`data ${key}`, () => { const one = doc.find('#top').data(key); return `${typeof one} ${JSON.stringify(one)}`; });
  attempt('data none', () => [typeof none.data(), typeof none.data('x')].join());
  attempt('each', () => { const seen = []; const result = list.each((index, element) => seen.push(`${index}${element.nodeName()}${element.id()}`)); return `${seen.join()} ${ids(result)}`; });
  attempt('each false', () => { const seen = []; list.each((index) => { seen.push(index); return false; }); return seen; });
  attempt('each bad', () => list.each('x'));
  attempt('each none', () => ids(list.each()));
  attempt('end', () => [ids(list.first().end()), ids(doc.find('ul').find('li').end()), ids(doc.end()), ids(list.filter('.odd').eq(0).end().end())].join('; '));
  attempt('eq', () => [ids(list.eq(1)), ids(list.eq(-1)), ids(list.eq(9)), ids(list.eq('2'))].join('; '));
  attempt('eq none', () => ids(list.eq()));
  attempt('filter string', () => [ids(list.filter('.odd')), ids(list.filter(':nth-child(2n)')), ids(list.filter('['))].join('; '));
  attempt('filter selection', () => ids(list.filter(doc.find('.odd'))));
  attempt('filter element', () => ids(list.filter(i2.get(0))));
  attempt('filter function', () => ids(list.filter((index, element) => index % 2 === 1)));
  attempt('filter function arg', () => { let kind; list.filter((index, element) => { kind = [typeof index, typeof element.id, typeof element.find, typeof this].join(); return true; }); return kind; });
  attempt('filter number', () => ids(list.filter(1)));
  attempt('find string', () => [ids(doc.find('ul li')), ids(doc.find('ul > .last, #p1')), ids(doc.find('')), ids(doc.find('['))].join('; '));
  attempt('find selection', () => ids(doc.find('#top').find(doc.find('li'))));
  attempt('find element', () => ids(doc.find('#top').find(i2.get(0))));
  attempt('find nothing', () => ids(doc.find()));
  attempt('first last', () => [ids(list.first()), ids(list.last()), ids(none.first()), ids(none.last())].join('; '));
  attempt('get', () => [list.get().length, list.get(0).id(), list.get(-1).id(), list.get(99), none.get(0), none.get().length].map(String).join());
  attempt('get string', () => list.get('1').id());
  attempt('has string', () => [ids(list.has('b')), ids(list.has('table')), ids(doc.find('div').has('a'))].join('; '));
  attempt('has selection', () => ids(list.has(doc.find('b'))));
  attempt('has element', () => ids(list.has(doc.find('b').get(0))));
  attempt('html', () => [i2.html(), list.html(), none.html(), doc.find('#p1').html(), doc.find('#top').html().length].map(String).join('|'));
  attempt('html doc', () => doc.html());
  attempt('index', () => [list.index(), i2.index(), i2.index('li'), i2.index('p'), list.index(i2), list.index(i2.get(0)), none.index(), doc.find('#p1').index()].join());
  attempt('is string', () => [list.is('.odd'), list.is('p'), none.is('*'), i2.is('ul > li')].join());
  attempt('is selection', () => [list.is(i2), i2.is(doc.find('p'))].join());
  attempt('is element', () => [list.is(i2.get(0))].join());
  attempt('is function', () => [list.is((index, element) => index === 3), list.is(() => false)].join());
  attempt('map', () => list.map((index, one) => `${index}${one.text()}`).join());
  attempt('map kinds', () => list.map((index, one) => (index === 0 ? 5 : index === 1 ? null : index === 2 ? undefined : { a: 1 })));
  attempt('map throw', () => list.map((index) => { if (index === 1) throw new Error('x'); return index; }));
  attempt('map bad', () => list.map('x'));
  attempt('map array', () => Array.isArray(list.map(() => 1)));
  attempt('next', () => [ids(i2.next()), ids(i2.next('.even')), ids(doc.find('#i1, #i3').next()), ids(doc.find('#i4').next())].join('; '));
  attempt('nextAll', () => [ids(i2.nextAll()), ids(i2.nextAll('.even')), ids(list.nextAll())].join('; '));
  attempt('nextUntil', () => [ids(doc.find('#i1').nextUntil('#i4')), ids(doc.find('#i1').nextUntil('#i4', '.odd')), ids(doc.find('#i1').nextUntil()), ids(doc.find('#i1').nextUntil(doc.find('#i3'))), ids(doc.find('#i1').nextUntil(doc.find('#i3').get(0))), ids(doc.find('#i1').nextUntil(doc.find('#i4'), '.odd'))].join('; '));
  attempt('prev', () => [ids(i2.prev()), ids(i2.prev('.even')), ids(list.prev()), ids(doc.find('#i1').prev())].join('; '));
  attempt('prevAll', () => [ids(doc.find('#i4').prevAll()), ids(doc.find('#i4').prevAll('.odd')), ids(list.prevAll())].join('; '));
  attempt('prevUntil', () => [ids(doc.find('#i4').prevUntil('#i1')), ids(doc.find('#i4').prevUntil('#i1', '.odd')), ids(doc.find('#i4').prevUntil()), ids(doc.find('#i4').prevUntil(i2)), ids(doc.find('#i4').prevUntil(i2.get(0)))].join('; '));
  attempt('not', () => [ids(list.not('.odd')), ids(list.not(i2)), ids(list.not(i2.get(0))), ids(list.not((index) => index < 2)), ids(list.not('['))].join('; '));
  attempt('parent', () => [ids(list.parent()), ids(doc.find('b').parent('ul')), ids(doc.find('b').parent('li')), ids(doc.find('html').parent()), ids(doc.parent())].join('; '));
  attempt('parents', () => [ids(doc.find('b').parents()), ids(doc.find('b').parents('div')), ids(doc.find('b, a').parents())].join('; '));
  attempt('parentsUntil', () => [ids(doc.find('b').parentsUntil('#top')), ids(doc.find('b').parentsUntil('body', 'ul')), ids(doc.find('b').parentsUntil()), ids(doc.find('b').parentsUntil(doc.find('#top'))), ids(doc.find('b').parentsUntil(doc.find('#top').get(0)))].join('; '));
  attempt('siblings', () => [ids(i2.siblings()), ids(i2.siblings('.odd')), ids(doc.find('#i1, #i2').siblings())].join('; '));
  attempt('slice', () => [ids(list.slice(1)), ids(list.slice(1, 3)), ids(list.slice(-2)), ids(list.slice(0, -1))].join('; '));
  attempt('slice far', () => ids(list.slice(0, 4)));
  attempt('text', () => [i2.text(), list.text(), none.text(), doc.find('#p1').text(), doc.find('title').text()].join('|'));
  attempt('toArray', () => [list.toArray().length, list.toArray()[1].text(), none.toArray().length].join());
  for (const field of ['input', 'textarea', 'select', 'option', 'button', 'object']) for (const one of doc.find(field).toArray()) attempt(`val ${field} ${one.attr('name')} ${one.attr('type')}`, () => one.val());
  attempt('val p', () => doc.find('p').val());
  attempt('val none', () => none.val());
  const form = doc.find('form');
  attempt('serialize', () => form.serialize());
  attempt('serializeArray', () => form.serializeArray().map((one) => `${one.name}=${JSON.stringify(one.value)}`).join('&'));
  attempt('serializeObject', () => { const all = form.serializeObject(); return Object.keys(all).sort().map((key) => `${key}=${JSON.stringify(all[key])}`).join('&'); });
  attempt('serialize others', () => [doc.find('input').serialize(), none.serialize(), doc.find('#top').serialize(), doc.serialize()].join(' ; '));
  attempt('typeof', () => [typeof doc, Object.prototype.toString.call(doc), String(doc).slice(0, 15)].join());
  attempt('extra', () => typeof list.reduce);
  attempt('iterate', () => { let count = 0; for (let at = 0; at < list.size(); at++) count += list.eq(at).text().length; return count; });
}
