// How documents are parsed and written.
import { parseHTML } from 'k6/html';
function attempt(what, run) {
  try {
    const value = run();
    console.log(what, value === undefined ? 'undefined' : typeof value === 'string' ? value : JSON.stringify(value));
  } catch (error) { console.log(what, 'throws', String(error).replace(/ at .*/s, '')); }
}
const sources = ['', 'text', '<p>One<p>Two', '<div><b>x</div>y</b>', '<table>x<tr><td>1<td>2', '<ul><li>a<li>b</ul>', '<a href=x>1<a href=y>2</a>', '&amp;&lt;&copy;&nbsp;&#233;&#x41;&nosuch;', '<p title="a&quot;b\'c<d>e&amp;">"quoted" & \'single\' \u00a0x</p>', '<br><hr><img src=x><input>', '<script>if (a < b && c) "x"</script><style>a > b</style>', '<textarea>\n<b></textarea><title>a<b>c</title>', '<noscript><p>n</p></noscript>', '<!-- c --><!DOCTYPE html><html><body>b</body></html><!-- after -->', '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd"><p>', '<svg viewBox="0 0 1 1"><foreignObject><p>x</p></foreignObject><path d="M0"/></svg>', '<math><mi>x</mi></math>', '<p CLASS=A Class=b>', '<template><p>in</p></template>', '<form><form><input></form></form>', '<select><option>1<option>2<div>x</select>', '<pre>\n\nx</pre>', '<p>a\r\nb\rc</p>', 'x\u0000y', '<frameset><frame></frameset>', '<body onload=x><body id=y>', '<h1>a<h2>b', '<nobr>a<nobr>b', '<p>\ud83d\ude00 é</p>', '<?xml version="1.0"?><root><item>1</item><item/></root>', '<x-y>z</x-y>', '<p/>t', '<iframe><p>x</p></iframe>', '<plaintext><p>x', '<button><button>x', '<b><p>x</b>y', '<i><b><p>1</i>2</b>3', '<td>x', '<col>', '</p></br></x>', '<a b=1 b=2 C="3" d>', '<p>x</p  >y', '<p', '<p title="x', '<![CDATA[x]]>', '<svg><![CDATA[x<y]]></svg>', '<div>\t\n x</div>', '<marquee>x', '<isindex>', '<image src=y>', '<keygen><param>', '<noembed><p></noembed>', '<ruby>a<rt>b<rp>c'];
export default function () {
  for (const source of sources) attempt(JSON.stringify(source).replace(/\\u0000/, 'NUL'), () => parseHTML(source).html());
  attempt('deep ok', () => parseHTML('<div>'.repeat(500) + 'x').find('div').size());
  attempt('deep', () => parseHTML('<div>'.repeat(600) + 'x').find('div').size());
  attempt('none', () => parseHTML());
  attempt('null', () => parseHTML(null));
  attempt('number', () => parseHTML(5).text());
  attempt('object', () => parseHTML({}).text());
  attempt('buffer', () => parseHTML(new Uint8Array([60, 112, 62, 120]).buffer).html());
}
