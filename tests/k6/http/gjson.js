// res.json(selector).
import http from 'k6/http';

const document = {
  name: { first: 'Tom', last: 'Anderson' },
  age: 37,
  children: ['Sara', 'Alex', 'Jack'],
  'fav.movie': 'Deer Hunter',
  friends: [
    { first: 'Dale', last: 'Murphy', age: 44, nets: ['ig', 'fb', 'tw'] },
    { first: 'Roger', last: 'Craig', age: 68, nets: ['fb', 'tw'] },
    { first: 'Jane', last: 'Murphy', age: 47, nets: ['ig', 'tw'] },
  ],
  empty: {},
  none: null,
  yes: true,
  big: 12345678901234567890,
  text: '{"inner":[1,2]}',
  'a*b': 1,
  uni: 'ü\u0001"\\',
};

const paths = [
  'name.last', 'age', 'children', 'children.#', 'children.1', 'child*.2', 'c?ildren.0', 'fav\\.movie',
  'friends.#.first', 'friends.1.last', 'friends.#', 'friends.#.age', 'friends.9', 'friends.-1', 'missing', 'name.missing',
  'friends.#(last=="Murphy").first', 'friends.#(last=="Murphy")#.first', 'friends.#(age>45)#.last',
  'friends.#(age>=47)#.first', 'friends.#(age<47).first', 'friends.#(age<=44).first', 'friends.#(age!=44).first',
  'friends.#(first%"D*").last', 'friends.#(first!%"D*").last', 'friends.#(nets.#(=="fb"))#.first',
  'children.#(=="Jack")', 'children.#(!="Sara")#', 'children.#(%"*a*")#', 'friends.#(nope)#', 'friends.#(nope=="x")', 'friends.#(age)#.first',
  'children|@reverse', 'children|@reverse|0', '@this', 'name|@keys', 'name|@values', 'name.@values', 'age|@values',
  'friends.#.nets|@flatten', 'friends.#.nets.@flatten', '{"a":name.first,"b":age}', '[name.first,age]', '{name.first,age}', '[name.first,missing,age]',
  'name.{first,last}', 'friends.0.[first,age]', 'friends.#.{first,age}', '@keys', 'text.@fromstr', 'text|@fromstr|inner.1', 'age|@tostr', 'name|@tostr',
  'name|@ugly', 'name|@pretty', '[{"a":1},{"b":2}]', 'friends|@join', '[name,{age}]|@join', 'name|@valid', 'friends.#(first=="Dale")|@this', '@join', '!"static"', '!5', '[!5,age]',
  'empty', 'none', 'yes', 'big', 'uni', 'a\\*b', 'a*b', '', '.', '..', '#', '*', 'name.*', 'name.#', 'children.#.x', '..#', '..0', 'friends|0|first', 'friends|#', 'friends.#|0', 'friends.#.first|0', 'friends.#.first.0',
  'friends.0.nets.#(>"fb")#', 'friends.#(nets.#>2)#.first', 'friends.#(nets.0=="fb").first', 'children.@reverse.0', '@group', '{"a":friends.#.first,"b":friends.#.last}|@group', 'name.first.x', '@nonsense', 'name|@dig:last', '@dig:first', 'friends.#.first.@reverse', 'friends.#(age>1e1)#.age', 'friends.#(yes==true)', 'friends.#(age>"5")#.age', 'friends.#(first=Dale).age', "friends.#(first=='Dale').age", 'friends.#(~true).first', 'friends.#(nope==~null)#.first', 'name.@this', '@this.name.first', '@this|name', 'name.first|@this',
];

// Go keeps no order.
const sorted = (key, value) => (value && typeof value === 'object' && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort()) : value);

export default function () {
  const res = http.post(`${__ENV.DEMO_URL}/anything/gjson`, JSON.stringify(document), { headers: { 'Content-Type': 'application/json' } });
  const whole = res.json();
  const prefix = ['json', 'body', 'data'].find((key) => whole && whole[key] && whole[key].name) || '';
  console.log(res.status, prefix);
  for (const path of paths) {
    let found;
    try {
      found = JSON.stringify(res.json(prefix === '' ? path : `${prefix}|${path}`), sorted);
    } catch (e) {
      found = `threw ${e.message}`;
    }
    console.log(path, '->', found);
  }
}
