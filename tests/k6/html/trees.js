// Trees of faulty pages.
import { parseHTML } from 'k6/html';

const sources = [
  // Elements of formatting that end where they should not.
  '<b>1<p>2</b>3', '<a>1<div>2<a>3</a>4</div>5</a>6', '<i>1<b>2<p>3</i>4</b>5</p>6', '<b><b><b><b>1</p>2<p>3', '<p><b id=1><b id=1><b id=1><b id=1>x</p>y', '<font size=1 color=red>1<font color=red size=1>2<p>3</font>4', '<a href=1><table><tr><td><a href=2>x</table>y', '<nobr>1<nobr>2<p>3</nobr>4', '<b><div><i><div>1</b>2</i>3', '<em><strong><p><em>1</strong>2</em>3', '<b>1<object>2</b>3</object>4', '<i>1<marquee>2</i>3</marquee>4', '<code>1<pre>2</code>3', '<b><button>1</b>2</button>3', '<a><p><a><p><a>', '<u><table><b>1</u>2</table>3', '<s>1<h1>2</s>3</h1>4', '<tt><ul><li>1</tt>2<li>3', '<b><i><u><s><small><big>1<div>2</b>3</i>4</u>5</s>6',
  // Tables.
  '<table><b>1<tr>2<td>3</b>4</table>5', '<table><tr><td>1<table><tr><td>2</td></tr></table>3', '<table><caption>1<td>2<caption>3</table>', '<table><colgroup><col>1<col></colgroup><tr><th>2', '<table><input type=hidden><input type=text><form><tr></form><td>1', '<table><select><option>1<tr><td>2', '<table><script>1</script><style>2</style><template>3</template>', '<table>\n <tr> <td> 1 </td> </tr> \n x </table>', '<table><tbody><tfoot><thead><tr><td></tbody><th></thead>', '<table><td>1<table>2<td>3', '<table></td></tr></tbody>1</caption>', '<tr><td>1', '<table><a>1<a>2</table>3', '<p>1<table><p>2</table>3', '<table><div>1<div>2</table>3', '<table><tr>1<!--c-->2</tr>3', '<table><li><table><li>', '<table><svg><desc><td>1',
  // Foreign elements.
  '<svg><p>1', '<svg><title><b>1</title>2', '<svg><foreignobject><div>1</svg>2', '<svg><a xlink:href=x XML:lang=de viewbox=1 PreserveAspectRatio=no><lineargradient/>', '<math><mtext><b>1</mtext><mi>2<svg>3', '<math><annotation-xml encoding="text/html"><p>1', '<math><annotation-xml><p>1', '<math><annotation-xml><svg><p>1', '<math definitionurl=x><mglyph><mi><mglyph><malignmark>', '<svg><font>1<font color=x>2', '<svg><script>a<b</script>', '<svg><style>a<b>c</style>', '<svg></p>1<br>2', '<svg><![CDATA[<a>&amp;]]]>x]]>y', '<svg><desc><svg><p>', '<p><svg></p>1', '<svg/><math/>1', '<svg><source>x</svg>', '<svg><circle/><CIRCLE></circle></SVG>1', '<table><svg><g>1</table>2',
  // Templates and frames.
  '<template><td>1<tr>2<p>3', '<template><col><td>', '<template><template>1</template>2</template>3', '<head><template>1</head>2</template>3', '<table><template><tr><td>1</template><td>2', '<svg><template>1</svg>2', '</template>1', '<frameset><frame><p>1</frameset>2<noframes>3</noframes>', '<p><frameset>', '<frameset> x </frameset> y </html> z <!--c-->', '<body><frameset>1', '<div><template><body id=x><html id=y>',
  // Head and body.
  '<head></head> <link> <title>1</title> 2', '<body a=1><body a=2 b=3><html c=4>', '<html a=1><head><html b=2>', '</head>1', '</br>1</p>2', '1</body>2</html>3', '<p>1</body> <!--a--></html> <!--b-->2', '<title>1', '<meta><p><meta>', '<head><p>1', ' <!--x--> <!doctype html> y', '<!doctype html><!doctype html>', '<noscript><b>1</noscript>2', '<head><noscript><p>1</noscript>',
  // Lists, paragraphs, forms, options.
  '<li>1<li>2<ul><li>3</li>4</ul>5', '<dl><dt>1<dd>2<dt>3<p>4<dd>5', '<ul><div><li>1<li>2', '<p>1<h1>2<h2>3</h1>4', '<form>1<form>2</form>3</form>4', '<form><div></form><input>', '<select>1<select>2', '<select><optgroup><option>1<optgroup>2<hr>3', '<select><input><p>', '<select><table><tr><td>1', '<option>1<option>2<optgroup>3', '<ruby>1<rb>2<rtc>3<rt>4<rp>5', '<button>1<button>2</button>3', '<p>1<hr>2<address>3', '<image><img></image>', '<textarea><p>&lt;</textarea></p>', '<xmp><p>&lt;</xmp>', '<listing>\n\n1</listing><pre>\r\n2', '<dialog><p>1<dialog>2', '<search><p>1<search>2', '<isindex><menuitem>1', '<h1><h2><h3>1</h1>2',
  // Tags, comments, scripts, doctypes.
  '<a b=1 B=2 c=\'3\' d=4/ e/f =g h==i>', '<a/b/>1', '<p/>1<br/>2<br / >', '<a\tb\n=\rc\f>', '<A HREF=X>1</A\n>', '< a>1<3', '</>1</ a>2', '<!x>1<!-->2<!--->3<!---->4<!--a--!>5<!--b', '<!--a-->b-->c<!-- - -- --->', '<?x?>1', '<!DOCTYPE>1', '<!DOCTYPE x SYSTEM>1', '<!DOCTYPE html PUBLIC "a\'b" \'c"d>e\'>1', '<!doctype HTML><p><table>', '<!DOCTYPE html><p><table>', '<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 3.2//EN"><p><table>', '<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN"><p><table>', '<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN" "x"><p><table>', '<script>1<!--<script>2</script>3--></script>4', '<script>1<!--</script>2', '<script><!--<script></script>', '<script>a</scriptx>b</script >c', '<style>a</styl></style>b', '<title>a&lt;<b></title>', '<iframe><p>&lt;</iframe>', '<plaintext>a</plaintext>&lt;', '<p x', '<p x="', '</p', '<!', '<!-', '<![CDATA[x]]>y', '<a "b"c=\'d\'e>', '<a b="&amp;&amp=&ampx&notit;&#65&#x41;">',
  // Letters.
  '&amp&ampx&amp;x', '&notit;&notin;&not;&no', '&#0;&#x80;&#128;&#xD800;&#x110000;&#99999999999;', '&#;&#x;&#xg;&;& &', '&nGt;&NotEqualTilde;&fjlig;', '&Aacute&aacute;&AACUTE;', '&lt=&lt;=', 'a\rb\r\nc\n\rd', '\uFEFFx\u00a0y\u2028z', '\ud83d\ude00\u0007\u007f\u0085',
];
export default function () {
  for (const source of sources) {
    const doc = parseHTML(source);
    console.log(JSON.stringify(source), '→', JSON.stringify(doc.html()), doc.find('*').map((i, one) => `${one.get(0).nodeName()}${one.get(0).namespaceURI().slice(-3)}`).join(' '));
  }
}
