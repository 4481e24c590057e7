// res.json(selector).
import http from 'k6/http';

const document = {
  port: { city: 'Nordby', pilot: { boat: 'Tern', crew: 4 } },
  tide: 2.75,
  berths: ['north', 'east', 'old quay', 'tanker'],
  'wind.knots': 18,
  calls: [
    { ship: 'Maren', draught: 6.5, cargo: ['salt', 'timber'], late: false },
    { ship: 'Skua', draught: 11, cargo: ['crude'], late: true, agent: { name: 'Holm' } },
    { ship: 'Mistral', draught: 9.25, cargo: ['timber', 'paper', 'salt'], late: false },
    { ship: 'Aurora', draught: 6.5, cargo: [], late: true },
  ],
  empty: {},
  none: null,
  open: true,
  big: 98765432109876543210,
  text: '{"inner":[7,8,{"deep":"x"}]}',
  'a*b': 1,
  uni: 'ø\u0002"\\/',
  grid: [[1, 2], [3, [4, 5]], 6],
};

const paths = [
  // Steps, wildcards, escapes.
  'port.city', 'port.pilot.boat', 'tide', 'berths', 'berths.#', 'berths.2', 'bert*.0', 'b?rths.3', 'wind\\.knots', 'wind.knots', 'po*.pi*.cr?w',
  'calls.#', 'calls.0.ship', 'calls.3.cargo.#', 'calls.9', 'calls.-1', 'calls.one', 'nowhere', 'port.nowhere', 'tide.more', 'berths.0.x', 'a\\*b', 'a*b',
  'empty', 'none', 'open', 'big', 'uni', '', '.', '..', '#', '*', 'port.*', 'port.#', 'berths.#.x', '..#', '..0',
  // Each of a list.
  'calls.#.ship', 'calls.#.draught', 'calls.#.agent.name', 'calls.#.cargo', 'calls.#.cargo.0', 'calls.#.cargo.#', 'calls.#.nowhere', 'grid.#.0', 'grid.1.1.0', 'grid.#.1.#',
  // Queries: the first one, all, and those of lists of plain values.
  'calls.#(ship=="Skua").draught', 'calls.#(late==true)#.ship', 'calls.#(late==false).ship', 'calls.#(draught>9)#.ship', 'calls.#(draught>=9.25)#.ship', 'calls.#(draught<9).ship',
  'calls.#(draught<=6.5)#.ship', 'calls.#(draught!=6.5)#.ship', 'calls.#(ship%"M*")#.ship', 'calls.#(ship!%"M*").ship', 'calls.#(cargo.#(=="salt"))#.ship', 'calls.#(cargo.#>1)#.ship',
  'calls.#(cargo.0=="crude").agent', 'calls.#(agent)#.ship', 'calls.#(agent.name=="Holm").ship', 'calls.#(nope)#', 'calls.#(nope=="x")', 'calls.#(draught>1e1)#.ship', 'calls.#(draught>"7")#.ship',
  'calls.#(ship=Skua).draught', "calls.#(ship=='Skua').draught", 'calls.#(late==~true)#.ship', 'calls.#(agent==~null)#.ship', 'calls.#(~true).ship', 'berths.#(=="east")', 'berths.#(!="east")#', 'berths.#(%"*n*")#',
  'berths.#(>"n")#', 'calls.0.cargo.#(>"sam")#', 'calls.#[draught>9]#.ship', 'calls.#(', 'calls.#(ship',
  // Pipes, modifiers.
  'calls|2|ship', 'calls|#', 'calls.#|0', 'calls.#.ship|0', 'calls.#.ship.0', 'calls.#.ship|@reverse|0', 'berths|@reverse', 'berths.@reverse.1', 'calls.#.ship.@reverse', '@this', 'port.@this', '@this.port.city', '@this|port',
  'port.city|@this', 'port|@keys', 'port|@values', 'port.@values', 'tide|@values', 'port.pilot.@keys', 'calls.#.cargo|@flatten', 'calls.#.cargo.@flatten', 'grid|@flatten', 'grid|@flatten:{"deep":true}', 'text.@fromstr',
  'text|@fromstr|inner.2.deep', 'tide|@tostr', 'port|@tostr', 'port|@ugly', 'port|@pretty', 'calls|@join', '[port.pilot,{tide}]|@join', '@join', 'port|@valid', 'calls.#(ship=="Maren")|@this', '@group',
  '{"s":calls.#.ship,"d":calls.#.draught}|@group', '@nonsense', 'port|@dig:boat', '@dig:name', '@dig:inner',
  // Made of several.
  '{port.city,tide}', '{"where":port.city,"t":tide}', '[port.city,tide,nowhere]', 'port.{city,pilot}', 'calls.1.[ship,late]', 'calls.#.{ship,late}', 'calls.#.{ship,late}|2', '[{"a":1},{"b":2}]', '!"static"', '!7', '[!7,tide]', '@keys',
];

// Go keeps no order.
const sorted = (key, value) => (value && typeof value === 'object' && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort()) : value);

export default function () {
  const res = http.post(`${__ENV.DEMO_URL}/anything/gjson`, JSON.stringify(document), { headers: { 'Content-Type': 'application/json' } });
  const whole = res.json();
  const prefix = ['json', 'body', 'data'].find((key) => whole && whole[key] && whole[key].port) || '';
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
