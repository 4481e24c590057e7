// A page of 100 kB, parsed and searched in each iteration: always the same one, or one of many.
import { parseHTML } from 'k6/html';

export const options = { scenarios: { default: { executor: 'constant-vus', vus: 1, duration: `${__ENV.SECONDS}s` } } };

// A shop's page: lists, links, forms, entities, a script.
function shop(number) {
  let page = `<!DOCTYPE html><html lang="en"><head><title>Shop ${number}</title><meta charset="utf-8"><script>if (a < b) { c("x"); }</script></head><body>`;
  for (let i = 0; page.length < 100000; i++) {
    page += `
  <div class="item ${i % 2 ? 'odd' : 'even'}" id="item-${number}-${i}" data-price="${i * 1.25}">
    <h2><a href="/items/${i}?from=list&amp;page=${i % 9}" title="Item no. ${i}">Item &laquo;${i}&raquo;</a></h2>
    <p>It is <b>very</b> useful, for <i>this</i> and for that; see <a href="#more">more</a>.<br>Only ${i * 1.25}&nbsp;&euro;!</p>
    <form action="/cart" method="post"><input type="hidden" name="id" value="${i}"><input type="number" name="count" value="1">
      <select name="size"><option value="s">small</option><option value="l" selected>large</option></select><button type="submit">Buy</button></form>
    <ul><li>first</li><li class="x">second</li><li>third</li></ul>
  </div>`;
  }
  return `${page}</body></html>`;
}

const pages = [];
for (let i = 0; i < Number(__ENV.PAGES); i++) pages.push(shop(i));

export default function () {
  const found = parseHTML(pages[__ITER % pages.length]).find('div.item > form input[name=id]').size();
  if (found < 100) throw new Error(`it found ${found}`);
}
