// html(), json() and forms see the body and address that a script assigns to a response
import http from 'k6/http';
import { parseHTML } from 'k6/html';
const forms = {
  chosen: '<form action=/anything method=post><select name=m multiple><option value=1 selected>one<option selected>two</select><select name=s><option value=x>X</select><input type=radio name=r value=a checked><input type=checkbox name=c value=v checked></form>',
  disabled: '<form action=/anything method=post><input name=a value=1 disabled><fieldset disabled><input name=b value=2></fieldset><input name=c value=3 readonly></form>',
  buttons: '<form action=/anything method=post><input type=submit name=one value=1><input type=submit name=two value=2 id=two><button type=submit name=three value=3>x</button><input type=image name=im src=x.png></form>',
  got: '<form action="/anything?keep=1#frag" method=get><input name=q value="a b"></form>',
  here: '<form method=POST><textarea name=q>text &amp; more</textarea></form>',
  multipart: '<form action=/anything method=post enctype="multipart/form-data"><input name=q value=1><input type=file name=f></form>',
  formaction: '<form action=/anything method=post><input name=q value=1><button type=submit formaction=/other formmethod=get name=b value=c>x</button></form>',
  two: '<form id=a action=/anything/a method=post><input name=q value=1></form><form id=b action=/anything/b method=post><input name=q value=2></form>',
};
const links = { rooted: '<a href=/anything/root>x</a>', asked: '<a href="?a=1">x</a>', dots: '<a href="/anything/a/../b/./c">x</a>', many: '<a href=/anything/1>1</a><a href=/anything/2>2</a>', none: '<p>none</p>', element: '<div href=/anything>d</div>' };
const path = (url) => url.replace(/^https?:\/\/[^/]*/, '');
function show(name, made) {
  try {
    const it = made();
    console.log(name, it && it.request ? [it.request.method, path(it.url), it.request.body, it.status].join(' ') : JSON.stringify(it));
  } catch (e) { console.log(name, e.name, e.message.replace(__ENV.DEMO_URL, '')); }
}
export default function () {
  const page = (body) => { const res = http.get(`${__ENV.DEMO_URL}/json`); res.body = body; return res; };
  for (const [name, html] of Object.entries(forms)) {
    show(name, () => page(html).submitForm());
    show(`${name}, filled`, () => page(html).submitForm({ fields: { q: 'over', extra: 1 } }));
  }
  show('the second', () => page(forms.two).submitForm({ formSelector: '#b' }));
  show('the button', () => page(forms.buttons).submitForm({ submitSelector: '#two' }));
  show('fields of a map', () => page(forms.here).submitForm({ fields: new Map([['a', 1], ['q', 'm']]) }));
  show('fields of a list', () => page(forms.here).submitForm({ fields: ['x'] }));
  show('a list in a field', () => page(forms.here).submitForm({ fields: { q: [1, 2] } }));
  for (const [name, html] of Object.entries(links)) show(`link ${name}`, () => page(html).clickLink());
  show('link chosen', () => page(links.many).clickLink({ selector: 'a:nth-child(2)' }));
  show('link of no link', () => page(links.element).clickLink({ selector: 'div' }));
  for (const body of ['{"a":1}', '', null, undefined, { a: 1 }, [1], 5, true, new Uint8Array([123, 125]).buffer]) {
    show('json', () => page(body).json());
    show('json of a', () => page(body).json('a') ?? 'none');
    show('html', () => page(body).html().html());
  }
  const moved = page('<a href=x>x</a>');
  moved.url = 'https://other.example/a/';
  show('moved', () => moved.html('a').get(0).href());
  const selection = parseHTML('<a href=x>x</a>').find('a');
  selection.url = 'http://somewhere/';
  show('selection', () => [selection.url, selection.get(0).href()]);
  try { selection.each(() => { throw new Error('in each'); }); } catch (e) { console.log(e.message.replace(/file:.*\/|\(\d+\)$/g, '')); }
}
