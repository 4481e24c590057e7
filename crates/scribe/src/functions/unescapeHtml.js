// A text of HTML: `&#43;` is `+`.
function unescapeHtml(text) {
  return parseHTML(`<p>${text}</p>`).find('p').text();
}
