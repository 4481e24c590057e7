// JSON there and back
export default function () {
  const o = JSON.parse('{"b":1,"a":[1,2.5,-3e2,"x\\u00e9\\n",null,true,{"c":{}}],"1":2}');
  console.log(JSON.stringify(o), Object.keys(o).join());
  console.log(JSON.stringify(o, null, 2));
  console.log(JSON.stringify({ date: new Date(0), undef: undefined, fn() {}, nan: NaN, arr: [undefined, () => 1], nested: { toJSON() { return 'custom'; } } }));
  for (const bad of ['', '{', '<html>', 'undefined', '{"a":1,}', '[1 2]', '"\n"', '{"a" 1}', 'tru']) { try { JSON.parse(bad); } catch (e) { if (bad !== 'tru') console.log(e.name, e.message); else console.log(e.name); } }
}
