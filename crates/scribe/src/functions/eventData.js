// The data of each event of an answer of text/event-stream.
function eventData(body) {
  const data = (event) => event.split(/\r?\n/).filter((line) => /^data(:|$)/.test(line));
  const blocks = body.split(/\r?\n\r?\n/).map(data).filter((lines) => lines.length > 0);
  return blocks.map((lines) => lines.map((line) => line.replace(/^data:? ?/, '')).join('\n'));
}
