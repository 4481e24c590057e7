// 110: attributes of elements are methods
import { parseHTML } from 'k6/html';
const doc = parseHTML('<a id="x" class="b c" href="/p?q=1#h" title="t">text</a><input type="checkbox" name="n" checked value="v"><img src="i.png" alt="o">');
export default function () {
  const a = doc.find('a').get(0);
  console.log(typeof a.id, a.id(), a.className(), a.href(), a.getAttribute('title'), a.textContent(), a.nodeName());
  const input = doc.find('input').get(0);
  console.log(typeof input.checked, input.checked(), input.name(), input.value(), input.type());
  console.log(doc.find('img').get(0).src(), doc.find('img').get(0).alt());
  console.log(doc.find('a').attr('id'), doc.find('a').text(), doc.find('nothing').attr('id'), doc.find('nothing').attr('id', 'otherwise'));
  doc.find('a, img').each((index, element) => console.log(index, element.nodeName(), typeof element.attributes));
}
