// Random letters out of these.
function randomText(length, letters) {
  let text = '';
  while (text.length < length) text += letters[Math.floor(Math.random() * letters.length)];
  return text;
}
