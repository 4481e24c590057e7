// JavaScript alone: each sample runs a piece of work until SLICE milliseconds are over.
import { Trend } from 'k6/metrics';
import { parseHTML } from 'k6/html';

export const options = { vus: 1, iterations: 1, summaryTrendStats: ['med', 'min', 'max'] };

const slice = Number(__ENV.SLICE || 200);
const rounds = Number(__ENV.ROUNDS || 7);
const trends = {
  fib_25: new Trend('fib_25'),
  sort_10000: new Trend('sort_10000'),
  json_100kb: new Trend('json_100kb'),
  html_100kb: new Trend('html_100kb'),
};

function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

// A small generator of our own, so that all clients sort the same numbers.
const numbers = [];
for (let i = 0, seed = 42; i < 10000; i++) {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  numbers.push(seed / 7);
}

const records = [];
for (let i = 0; JSON.stringify(records).length < 100000; i += 20) {
  for (let j = i; j < i + 20; j++) {
    records.push({ id: j, name: `record ${j}`, price: j * 1.25, tags: ['a', 'b', `t${j}`], ok: j % 2 == 0, nested: { x: j, y: null } });
  }
}

// A shop's page of 100 kB: lists, links, forms, entities, a script.
let page = '<!DOCTYPE html><html lang="en"><head><title>Shop</title><meta charset="utf-8"><script>if (a < b) { c("x"); }</script></head><body>';
for (let i = 0; page.length < 100000; i++) {
  page += `
  <div class="item ${i % 2 ? 'odd' : 'even'}" id="item-${i}" data-price="${i * 1.25}">
    <h2><a href="/items/${i}?from=list&amp;page=${i % 9}" title="Item no. ${i}">Item &laquo;${i}&raquo;</a></h2>
    <p>It is <b>very</b> useful, for <i>this</i> and for that; see <a href="#more">more</a>.<br>Only ${i * 1.25}&nbsp;&euro;!</p>
    <form action="/cart" method="post"><input type="hidden" name="id" value="${i}"><input type="number" name="count" value="1">
      <select name="size"><option value="s">small</option><option value="l" selected>large</option></select><button type="submit">Buy</button></form>
    <ul><li>first</li><li class="x">second</li><li>third</li></ul>
  </div>`;
}
page += '</body></html>';

const work = {
  fib_25: () => fib(25),
  sort_10000: () => numbers.slice().sort((a, b) => a - b)[0],
  json_100kb: () => JSON.parse(JSON.stringify(records)).length,
  html_100kb: () => parseHTML(page).find('div.item > form input[name=id]').size(),
};

export default function () {
  for (const name in work) {
    work[name]();
    for (let round = 0; round < rounds; round++) {
      const start = Date.now();
      let count = 0;
      let elapsed = 0;
      while (elapsed < slice) {
        work[name]();
        count++;
        elapsed = Date.now() - start;
      }
      trends[name].add(elapsed / count);
    }
  }
}
