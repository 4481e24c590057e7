//! Test data: files, shared arrays, `k6/experimental/fs`, `k6/experimental/csv`.

use crate::support::{Told, brunt};

fn run(script: &str, files: &[(&str, &str)]) -> Told {
    let mut call = brunt("run -q --no-summary --log-format raw s.js");
    for (file, text) in files {
        call = call.file(file, text);
    }
    call.file("s.js", script).told()
}

/// Runs `s.js` with the files beside it; it must end well. Returns what the default function logged: lines with `=`.
fn logged(script: &str, files: &[(&str, &str)]) -> Vec<String> {
    let told = run(script, files);
    assert_eq!(told.code, 0, "{told:?}");
    told.stderr.lines().filter(|line| line.contains('=')).map(str::to_owned).collect()
}

#[test]
fn what_a_vu_writes_to_an_opened_file_is_its_own() {
    let script = "
        import exec from 'k6/execution';
        const small = new Uint8Array(open('small.txt', 'b')), large = new Uint8Array(open('large.txt', 'b'));
        const text = open('small.txt');
        export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 3, iterations: 2 } } };
        export default function () {
          small[0] += exec.vu.idInTest; large[70000] += exec.vu.idInTest;
          console.log(`vu${exec.vu.idInTest}.${__ITER}=${small[0]},${large[70000]},${large[69999]},${text}`);
        }";
    let large = "a".repeat(80_000);
    let mut lines = logged(script, &[("small.txt", "0é"), ("large.txt", &large)]);
    lines.sort();
    let expected: Vec<_> = (1..=3)
        .flat_map(|vu| (1..=2).map(move |turn| (vu, turn)))
        .map(|(vu, turn)| {
            format!("vu{vu}.{}={},{},97,0é", turn - 1, 48 + vu * turn, 97 + vu * turn)
        })
        .collect();
    assert_eq!(lines, expected);
}

#[test]
fn shared_arrays_keep_bytes() {
    let script = "
        import { SharedArray } from 'k6/data';
        import encoding from 'k6/encoding';
        const all = new SharedArray('all', () => [
          open('f.txt', 'b'), new Uint8Array([1, 2]), new Float64Array([0.5]), 'text', { a: [1] }, new Uint8Array(3).buffer,
          { name: 'f', data: open('f.txt', 'b') },
        ]);
        export default function () {
          const [buffer, bytes, floats] = all;
          let refused;
          try { bytes[0] = 9; } catch (e) { refused = e.name; }
          for (const write of [
            () => crypto.getRandomValues(bytes), () => new TextEncoder().encodeInto('a', bytes), () => bytes.set([1]),
          ]) {
            try { write(); refused = write; } catch (e) { if (e.name !== 'TypeError') refused = e; }
          }
          console.log(`kinds=${buffer instanceof ArrayBuffer},${bytes instanceof Uint8Array},${floats instanceof Float64Array}`);
          console.log(`bytes=${buffer.byteLength},${bytes.join()},${floats[0]},${all[3]},${all[4].a},${all[5].byteLength},${all.length}`);
          console.log(`same=${encoding.b64encode(all[0])},${encoding.b64encode(all[6].data)},${refused},${Object.isFrozen(bytes)},${Object.keys(all).length},${all.map((x) => typeof x)}`);
        }";
    let lines = logged(script, &[("f.txt", "hey")]);
    assert_eq!(
        lines,
        [
            "kinds=true,true,true",
            "bytes=3,1,2,0.5,text,1,3,7",
            "same=aGV5,aGV5,TypeError,true,7,object,object,object,string,object,object,object"
        ]
    );
}

#[test]
fn files_are_read_piece_by_piece() {
    let script = "
        import { open, SeekMode } from 'k6/experimental/fs';
        import fs from 'k6/experimental/fs';
        const file = await open('data/f.txt');
        const tried = async (f) => { try { return await f(); } catch (e) { return `${e.name}: ${e.message}`; } };
        const init = [await tried(() => open('nope')), await tried(() => open('data')), await tried(() => open('')), await tried(() => open())];
        export default async function () {
          const text = (bytes, n) => String.fromCharCode(...bytes.subarray(0, n));
          const bytes = new Uint8Array(4);
          const stat = await file.stat();
          console.log(`stat=${stat.name},${stat.size},${file.path.endsWith('/data/f.txt')},${JSON.stringify(SeekMode)},${fs.open === open}`);
          const parts = [];
          for (let n; (n = await file.read(bytes)) !== null; ) parts.push(n + text(bytes, n));
          console.log(`parts=${parts.join()},${await file.read(bytes)}`);
          console.log(`seek=${await file.seek(2, SeekMode.Start)},${await file.read(new Uint8Array(3))},${await file.seek(-1, SeekMode.Current)},${await file.seek(-4, SeekMode.End)},${await file.read(bytes)}${text(bytes, 4)}`);
          for (const f of [() => file.seek(-1, 0), () => file.seek(11, 0), () => file.seek(1, 2), () => file.seek(0, 7), () => file.seek('x', 0),
            () => file.seek(), () => file.read(), () => file.read([1]), () => file.read(new ArrayBuffer(1)), () => open('data/f.txt')])
            console.log('error=' + await tried(f));
          init.forEach((line) => console.log('init=' + line));
        }";
    let lines = logged(script, &[("data/f.txt", "0123456789")]);
    assert_eq!(
        lines[..3],
        [
            r#"stat=f.txt,10,true,{"Start":0,"Current":1,"End":2},true"#,
            "parts=40123,44567,289,null",
            "seek=2,3,4,5,45678",
        ]
    );
    let errors: Vec<_> = lines[3..].iter().filter_map(|line| line.split_once('=')).collect();
    let names: Vec<_> =
        errors.iter().filter_map(|(_, told)| told.split_once(':')).map(|(name, _)| name).collect();
    let (types, rest) = names.split_at(9);
    assert!(types.iter().all(|name| *name == "TypeError"), "{lines:?}");
    assert_eq!(
        rest,
        ["ForbiddenError", "NotFoundError", "InvalidResourceError", "TypeError", "TypeError"]
    );
}

#[test]
fn csv_files_are_parsed() {
    let script = "
        import { open } from 'k6/experimental/fs';
        import csv from 'k6/experimental/csv';
        import { parse, Parser } from 'k6/experimental/csv';
        const file = await open('f.csv');
        const all = await csv.parse(file), objects = await parse(file, { asObjects: true });
        const some = await parse(file, { fromLine: 1, toLine: 2 }), rest = await parse(file, { skipFirstLine: true });
        const semicolons = await parse(await open('g.csv'), { delimiter: ';' });
        const tried = async (f) => { try { await f(); return 'none'; } catch (e) { return e.message; } };
        const parser = new Parser(file, { skipFirstLine: true, toLine: 2 }), named = new csv.Parser(file, { asObjects: true });
        const errors = [
          await tried(async () => parse(await open('bad.csv'))), await tried(() => new Parser(file, { delimiter: 'ab' })),
          await tried(() => parse(file, { fromLine: 3, toLine: 1 })), await tried(() => parse(file, { asObjects: true, skipFirstLine: true })),
          await tried(() => parse('f.csv')), await tried(() => parse()),
        ];
        const late = new Parser(await open('bad.csv'));
        export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 2, iterations: 1 } } };
        export default async function () {
          const told = [JSON.stringify(all), JSON.stringify(objects), JSON.stringify(some), JSON.stringify(rest), JSON.stringify(semicolons)];
          told.push([Array.isArray(all), all.length, objects[0].name, Object.isFrozen(all[0])].join());
          for (let i = 0; i < 3; i++) told.push(JSON.stringify(await parser.next()));
          told.push(JSON.stringify((await named.next()).value));
          await late.next();
          told.push(await tried(() => late.next()), await tried(() => new Parser(file)), ...errors);
          if (__VU === 1) told.forEach((line) => console.log('=' + line));
        }";
    let files = [
        ("f.csv", "name,n\n\"a, \"\"b\"\"\",1\r\n\né,2\nlast,3"),
        ("g.csv", "a;b,c\n"),
        ("bad.csv", "a,b\nc\n"),
    ];
    let lines = logged(script, &files);
    let lines: Vec<_> = lines.iter().map(|line| &line[1..]).collect();
    assert_eq!(
        lines[..12],
        [
            r#"[["name","n"],["a, \"b\"","1"],["é","2"],["last","3"]]"#,
            r#"[{"n":"1","name":"a, \"b\""},{"n":"2","name":"é"},{"n":"3","name":"last"}]"#,
            r#"[["a, \"b\"","1"],["é","2"]]"#,
            r#"[["a, \"b\"","1"],["é","2"],["last","3"]]"#,
            r#"[["a","b,c"]]"#,
            "true,4,a, \"b\",true",
            r#"{"done":false,"value":["a, \"b\"","1"]}"#,
            r#"{"done":false,"value":["é","2"]}"#,
            r#"{"done":true,"value":[]}"#,
            r#"{"name":"a, \"b\"","n":"1"}"#,
            "record on line 2: wrong number of fields",
            "csv Parser constructor must be called in the init context",
        ]
    );
    assert!(lines[12].contains("record on line 2: wrong number of fields"), "{lines:?}");
    assert!(lines[13].contains("delimiter must be a single character"), "{lines:?}");
    assert!(lines[14].contains("fromLine must be less than or equal to toLine"), "{lines:?}");
    assert!(lines[15].contains("'skipFirstLine'"), "{lines:?}");
    assert!(lines[16].contains("expected to be a fs.File instance"), "{lines:?}");
    assert!(lines[17].contains("the reader cannot be nil"), "{lines:?}");
}

/// The elements of a file that is parsed for a `SharedArray` alone stay in the file's text; scripts can't tell.
#[test]
fn shared_arrays_of_whole_files_are_what_json_parse_makes() {
    let script = r"
        import { SharedArray } from 'k6/data';
        const show = (a) => `${a.length},${JSON.stringify(a[1])},${a[a.length - 1].id},${Array.isArray(a)}`;
        const file = (name) => () => JSON.parse(open(name));
        const all = {
          arrow: new SharedArray('arrow', () => JSON.parse(open('big.json'))),
          plain: new SharedArray('plain', function () { const text = open('big.json'); return JSON.parse(text); }),
          kept: new SharedArray('kept', function () { const made = JSON.parse(open('big.json')); return made; }),
          mapped: new SharedArray('mapped', () => JSON.parse(open('big.json')).map((e) => ({ ...e, id: e.id + 1 }))),
          again: new SharedArray('again', function f(inner) {
            if (inner !== 'inner') { const made = f('inner'); made.reverse(); return made; }
            return JSON.parse(open('big.json'));
          }),
          nested: new SharedArray('nested', () => {
            const first = new SharedArray('first', file('big.json'));
            return [{ id: first.length }, first[1], { id: first.length }];
          }),
          tried: new SharedArray('tried', () => { try { return JSON.parse(open('big.json')); } finally { show; } }),
          odd: new SharedArray('odd', () => JSON.parse(open('odd.json'))),
        };
        const refused = (name, make) => { try { new SharedArray(name, make); return 'made'; } catch (e) { return `${e.name}: ${e.message}`; } };
        const errors = [refused('e1', file('broken.json')), refused('e2', file('object.json'))];
        const wrapped = JSON.parse;
        JSON.parse = (text) => { const made = wrapped(text); made.push({ id: 'pushed' }); return made; };
        all.patched = new SharedArray('patched', () => JSON.parse(open('big.json')));
        JSON.parse = wrapped;
        Array.prototype.toJSON = function () { return 'list'; };
        all.own = new SharedArray('own', () => JSON.parse(open('big.json')));
        delete Array.prototype.toJSON;
        export default function () {
          for (const [name, array] of Object.entries(all)) console.log(`${name}=${show(array)}`);
          console.log(`odd0=${Object.is(all.odd[0].n, 0)} ${all.odd[0].m}`);
          console.log(`e=${errors.join('|')}`);
        }";
    let many: Vec<String> =
        (0..4000).map(|id| format!(r#" {{ "id": {id}, "tags": ["a-0", "1e5"] }}"#)).collect();
    let big = format!("[{}\n]\n", many.join(",\n"));
    let odd = format!(r#"[{{"n": -0, "m": 1e999}}, {}]"#, many.join(","));
    let broken = format!("[{},]", many.join(","));
    let object = format!(r#"{{"a": [{}]}}"#, many.join(","));
    let files = [
        ("big.json", &*big),
        ("odd.json", &odd),
        ("broken.json", &broken),
        ("object.json", &object),
    ];
    let element = |id: u32| format!(r#"{{"id":{id},"tags":["a-0","1e5"]}}"#);
    let usual = format!("4000,{},3999,true", element(1));
    let expected = [
        format!("arrow={usual}"),
        format!("plain={usual}"),
        format!("kept={usual}"),
        format!("mapped=4000,{},4000,true", element(2)),
        format!("again=4000,{},0,true", element(3998)),
        format!("nested=3,{},4000,true", element(1)),
        format!("tried={usual}"),
        format!("odd=4001,{},3999,true", element(0)),
        format!("patched=4001,{},pushed,true", element(1)),
        r#"own=4000,{"id":1,"tags":"list"},3999,true"#.to_owned(),
        "odd0=true null".to_owned(),
        "e=SyntaxError: invalid character ']' looking for beginning of value|GoError: only arrays can be \
         made into SharedArray"
            .to_owned(),
    ];
    assert_eq!(logged(script, &files), expected);
}
