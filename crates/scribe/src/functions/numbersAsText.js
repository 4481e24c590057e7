// JSON whose numbers are texts: some have more digits than JavaScript's numbers.
function numbersAsText(body) {
  const parts = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
  return JSON.parse(body.replace(parts, (part) => (part[0] === '"' ? part : `"${part}"`)));
}
