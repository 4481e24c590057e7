// What a partial answer of JSF puts in place of the element whose id has this text in it.
function update(res, id) {
  const all = res.body.matchAll(/<update id="([^"]*)"><!\[CDATA\[([^]*?)\]\]><\/update>/g);
  const [, , text] = [...all].find((own) => own[1].includes(id));
  return text;
}
