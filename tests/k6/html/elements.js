// Every method of every kind of element, without arguments.
import { parseHTML } from 'k6/html';

const source = `<!DOCTYPE html>
<html lang="en-GB"><head><title>The <b>title</b></title><base href="http://base.test/dir/" target="_top">
<link id=l1 rel="stylesheet alternate" href="/a.css?x=1#y" type="text/css" media="print" crossorigin="anonymous" hreflang="de" referrerpolicy="origin" target=t>
<link id=l2>
<meta id=m1 name="description" content="Some &amp; text" http-equiv="refresh"><meta id=m2 charset=utf-8>
<style id=s1 type="text/css" media="screen">p > a { color: red }</style><style id=s2></style>
<script id=sc1 src="/x.js" async defer crossorigin="use-credentials" nomodule charset="utf-8" type="module"></script>
<script id=sc2>if (1 < 2 && true) { a("x") }</script></head>
<body class="one  two
three one" id="body">
<a id=a1 href="http://user:pa%20ss@host.test:8080/path/x.html?q=1&amp;r=2#frag" rel="nofollow  noopener" target="_blank" type="text/html" download="name.txt" hreflang="fr" accesskey="k" referrerpolicy="no-referrer">Text <i>in</i> link</a>
<a id=a2 href="/relative?x#y">r</a><a id=a3>none</a><a id=a4 href="">empty</a><a id=a5 href="https://host.test/a b">s</a><a id=a6 href="mailto:x@y.test">m</a>
<a id=a7 href="HTTPS://HOST.test:443/">p</a><a id=a8 href="http://[::1]:80/x">v6</a><a id=a9 href="//proto.test/x">n</a><a id=a10 href="http://ho st/%zz">bad</a>
<a id=a11 rel="" referrerpolicy="bogus" href="#only">b</a><a id=a12 href="http://host.test">h</a><a id=a13 href="http://u@host.test/?">h</a><a id=a14 href="ftp://host.test:21/x" referrerpolicy="origin-when-cross-origin">h</a>
<map id=map1 name="mm"><area id=ar1 href="/area?x=1" alt="A" shape=rect coords="1,2" target=q rel="tag"></map><img id=i0 usemap="#mm"><object id=ob0 usemap="#mm"></object>
<img id=i1 src="/i.png" srcset="a 1x, b 2x" sizes="10vw" width="30" height="40px" alt="alt" ismap usemap="#m" crossorigin name=in referrerpolicy="unsafe-url"><img id=i2>
<form id=f1 name=fn action="/submit?x=1" method="POST" enctype="multipart/form-data" accept-charset="utf-8" target="_self" autocomplete="off" novalidate>
<fieldset id=fs1 name=fsn disabled><legend id=lg1 accesskey=l>Legend</legend><input id=in0 name=in0 value=v0></fieldset><fieldset id=fs2></fieldset>
<label id=lb1 for="in1" accesskey=L>For in1</label><label id=lb2>Around <input id=in2 type=checkbox name=c1 checked></label><label id=lb3 for=nosuch></label>
<input id=in1 name="n1" type="TEXT" value="v &quot;1&quot;" accept="image/*" accesskey="a" alt="alt" autocomplete="on" autofocus dirname="d" disabled formaction="/fa" formenctype="text/plain" formmethod="put" formnovalidate formtarget="ft" height="10" list="dl" max="9" maxlength="5" min="1" multiple pattern="[a-z]" placeholder="ph" readonly required size="7" src="/s" step="2" tabindex="3" width="11">
<input id=in3><input id=in4 type=radio name=r value=1 checked="checked"><input id=in5 type=radio name=r><input id=in6 type=number maxlength=x size=x tabindex=x><input id=in7 type=submit formmethod=post formenctype="multipart/form-data">
<button id=b1 name=bn value=bv type=button formaction=/b formmethod=post formtarget=x tabindex=2 disabled autofocus accesskey=b>Button</button><button id=b2>B2</button><button id=b3 type=reset formmethod=GET>B3</button>
<select id=se1 name=sn size=4 multiple required autofocus tabindex=5><optgroup id=og1 label="G" disabled><option id=o1 value=1 selected>One</option><option id=o2 label="lab">Two <!-- c --> words</option></optgroup><option id=o3 value="" disabled selected>Three</option></select>
<select id=se2 disabled><option id=o4> Four </option><option id=o5 value=5>Five</option></select><select id=se3></select>
<textarea id=t1 name=tn rows=3 cols="20" maxlength=9 placeholder=p wrap=hard readonly required disabled accesskey=t tabindex=1 autocomplete=on autocapitalize=words>
Area &amp; <b>x</b></textarea><textarea id=t2></textarea>
<output id=ou1 for="in1 in2" name=on>Out</output><keygen id=k1 name=kn challenge=c keytype=rsa autofocus disabled><object id=ob1 data="/o" type="t/x" name=obn width=1 height=2 typemustmatch usemap="#mm" form=f1 tabindex=4></object>
<datalist id=dl><option id=o6 value=d>D</option></datalist><meter id=me1 value=0.5 min=0 max=2 low=.3 high=1.5 optimum=1></meter><progress id=pr1 value=3 max=12></progress><progress id=pr2></progress>
</form><button id=b4 form=f1 name=outside>out</button><input id=in8 form=f1><label id=lb4 for=b4>x</label><form id=f2></form><form id=f3 method=put enctype=x></form>
<table id=tb1 sortable><caption id=ca1>Cap</caption><colgroup><col id=co1 span=2></colgroup><thead id=th1><tr id=tr1><th id=h1 abbr=ab scope=col headers="x y" colspan=2 sorted>H</th></tr></thead>
<tbody id=tbo1><tr id=tr2><td id=d1 headers=h1>1</td><td id=d2 rowspan=3 colspan=x>2</td></tr><tr id=tr3><td>3</td></tr></tbody><tbody></tbody><tfoot id=tf1><tr id=tr4></tr></tfoot></table><table id=tb2></table>
<ol id=ol1 reversed start=3 type=a><li id=li1 value=7>x</li><li id=li2 value=x type=disc></li></ol><ol id=ol2></ol><ul id=ul1 type=square></ul>
<iframe id=if1 src=/f name=ifn width=10 height=20 allowfullscreen referrerpolicy=same-origin></iframe><embed id=em1 src=/e type=t width=1 height=2><canvas id=cv1 width=5 height=6></canvas><canvas id=cv2></canvas>
<video id=v1 src=/v controls autoplay loop muted preload=auto crossorigin=x mediagroup=g><source id=so1 src=/s type=v/m media=m sizes=z srcset=q keysystem=k><track id=tk1 src=/t kind=captions label=L srclang=en default><track id=tk2></video><audio id=au1></audio>
<del id=de1 cite=/c datetime="2020">d</del><ins id=is1></ins><time id=ti1 datetime="2021-01-01">t</time><time id=ti2>22:00</time><data id=da1 value=8>e</data><param id=pa1 name=p value=v><pre id=pp1 name=x value=y></pre>
<p id=p1 lang=de data-x=1 title=tip>Text<!-- comment --><b></b></p><p id=p2 hidden></p>
<svg id=sv1 viewBox="0 0 1 1"><a xlink:href="/x" id=sva>s</a></svg><math id=ma1><mi id=mi1>x</mi></math><custom-tag id=ct1 foo=bar>c</custom-tag>
</body></html>`;

function show(value, deep) {
  if (value === undefined) return 'undefined';
  if (value === null) return 'null';
  if (typeof value !== 'object') return JSON.stringify(value);
  if (typeof value.nodeName === 'function') return `<${value.nodeName()}#${value.id ? value.id() : ''}>`;
  if (typeof value.each === 'function') return `Selection(${value.size()})`;
  if (typeof value.length === 'number') return `[${Array.from(value, (one) => show(one)).join(', ')}]`;
  const own = [];
  for (const key in value) own.push(`${key}: ${typeof value[key] === 'function' ? 'fn' : key === 'ownerElement' || key === 'OwnerElement' ? show(value[key]) : show(value[key])}`);
  return `{${own.sort().join(', ')}}`;
}

const doc = parseHTML(source);
const skip = { toString: 1, ownerDocument: 1 };
const all = doc.find('*').get();
console.log('elements', all.length);
const common = {};
for (const key in doc.find('p').get(0)) common[key] = true;

export default function () {
  for (const element of all) {
    const parts = [];
    const keys = [];
    for (const key in element) keys.push(key);
    for (const key of keys.sort()) {
      if (skip[key] || common[key] || typeof element[key] !== 'function' ) continue;
      let shown;
      try { shown = show(element[key]()); } catch (error) { shown = `throws ${error}`; }
      parts.push(`${key}=${shown}`);
    }
    if (parts.length) console.log(`${element.nodeName()}#${element.id()} ${parts.join(' ')}`);
  }
  const needs = {
    contains: 1, getAttribute: 1, getAttributeNode: 1, getElementsByClassName: 1, getElementsByTagName: 1, hasAttribute: 1, isEqualNode: 1, isSameNode: 1, matches: 1, querySelector: 1, querySelectorAll: 1, isDefaultNamespace: 1 };
  for (const id of ['p1', 'p2', 'body', 'a1', 'sva', 'mi1', 'ct1', 'o2', 'tr2', 't1', 'sc2']) {
    const element = doc.find(`#${id}`).get(0);
    for (const key of Object.keys(common).sort()) {
      // k6 crashes where there is no child.
      if (skip[key] || needs[key] || (!element.hasChildNodes() && /^(first|last)Child$/.test(key)) || (/^(next|previous)Sibling$/.test(key) && !/^(p1|p2|a1|ct1|tr2)$/.test(id))) continue;
      let shown;
      try { shown = show(element[key]()); } catch (error) { shown = `throws ${error}`; }
      console.log(`${id}.${key}() ${shown}`);
    }
  }
}
