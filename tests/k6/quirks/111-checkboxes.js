// 111: serializeArray() takes a checkbox only with checked="checked"
import { parseHTML } from 'k6/html';
const doc = parseHTML(`<form>
  <input type="checkbox" name="bare" checked value="1"><input type="checkbox" name="empty" checked="" value="2">
  <input type="checkbox" name="literal" checked="checked" value="3"><input type="checkbox" name="other" checked="true" value="4">
  <input type="checkbox" name="none" value="5"><input type="radio" name="radio" checked value="6"><input type="radio" name="round" checked="checked">
  <input name="text" value="7"><input name="off" disabled value="8"><input value="nameless"><input type="submit" name="go" value="9">
  <textarea name="area">a &amp; b</textarea><select name="one"><option>x<option selected value="y">Y</select>
  <select name="many" multiple><option selected>p<option>q<option selected>r</select></form>`);
export default function () {
  const form = doc.find('form');
  for (const { name, value } of form.serializeArray()) console.log(name, JSON.stringify(value));
  console.log(form.serialize());
  console.log(JSON.stringify(Object.entries(form.serializeObject()).sort()));
}
