// The content that a partial answer of JSF puts into the page, by a part of the element's id.
function update(res, id) {
  const all = res.body.matchAll(/<update id="([^"]*)"><!\[CDATA\[([^]*?)\]\]><\/update>/g);
  const [, , text] = [...all].find((own) => own[1].includes(id));
  return text;
}
