//! `brunt/data`: rows that are given out, queues and counters that all VUs share.

use std::collections::BTreeSet;

use crate::support::{Told, brunt};

fn run(flags: &str, script: &str) -> Told {
    brunt("run -q --no-summary --log-format raw")
        .words(flags)
        .word("s.js")
        .file("s.js", script)
        .told()
}

/// The words behind `mark` at the beginnings of lines.
fn told(told: &Told, mark: &str) -> Vec<String> {
    told.stderr.lines().filter_map(|line| line.strip_prefix(mark)).map(str::to_owned).collect()
}

/// The same of a run that ends well.
fn well(flags: &str, script: &str, mark: &str) -> Vec<String> {
    let ended = run(flags, script);
    assert_eq!(ended.code, 0, "{ended:?}");
    told(&ended, mark)
}

/// A script whose iterations say which row they got.
fn rows_script(total: u32, options: &str, iterations: u32) -> String {
    format!(
        "import {{ rows }} from 'brunt/data';
        const all = rows('all', () => Array.from({{ length: {total} }}, (_, id) => ({{ id }})), {options});
        export const options = {{ scenarios: {{ s: {{ executor: 'shared-iterations', vus: 30, iterations: {iterations} }} }} }};
        export default function () {{ const row = all.next(); console.log('row ' + (row && row.id)); }}"
    )
}

#[test]
fn each_row_goes_to_one_iteration() {
    for options in
        ["{}", "{ strategy: 'shuffle' }", "{ share: 'leased' }", "{ whenEmpty: 'throw' }"]
    {
        let rows = well("", &rows_script(3000, options, 3000), "row ");
        let mut ids: Vec<u32> = rows.iter().map(|row| row.parse().expect("a row")).collect();
        ids.sort_unstable();
        assert!(ids.into_iter().eq(0..3000), "{options}");
    }
}

#[test]
fn the_end_of_rows_is_a_choice() {
    let stopped = run("", &rows_script(10, "{}", 100_000));
    assert_eq!(stopped.code, 108, "{stopped:?}");
    assert_eq!(told(&stopped, "row ").len(), 10);
    let why = "test aborted: rows \"all\" are used up: all 10 rows have been given out; give the test more rows";
    assert!(stopped.stderr.contains(why), "{stopped:?}");
    assert!(stopped.stderr.contains("s.js:4:"), "{stopped:?}");

    let rows = well("", &rows_script(10, "{ whenEmpty: 'null' }", 40), "row ");
    assert_eq!(rows.iter().filter(|row| *row == "null").count(), 30);

    let thrown = run("", &rows_script(10, "{ whenEmpty: 'throw' }", 40));
    assert_eq!((thrown.code, told(&thrown, "row ").len()), (0, 10), "{thrown:?}");
    assert!(thrown.stderr.contains("GoError: rows \"all\" are used up: all 10 rows"), "{thrown:?}");
    assert!(thrown.stderr.contains("s.js:4:"), "{thrown:?}");

    let late = rows_script(30, "{}", 30)
        + "\nexport function handleSummary() { try { all.next(); } catch (e) { return { stdout: `SAID ${e}` }; } }";
    let told_late = brunt("run -q s.js").file("s.js", &late).told();
    assert!(told_late.stdout.contains("SAID GoError: rows \"all\" are used up"), "{told_late:?}");
    let uncaught = late.replace("try { all.next(); } catch (e) {", "{ const e = all.next();");
    let told_late = brunt("run -q s.js").file("s.js", uncaught).told();
    assert_eq!(told_late.code, 0, "{told_late:?}");
    assert!(told_late.error().contains("are used up: all 30 rows"), "{told_late:?}");

    let rows = well("", &rows_script(10, "{ strategy: 'circular' }", 40), "row ");
    for id in 0..10 {
        assert_eq!(rows.iter().filter(|row| **row == id.to_string()).count(), 4);
    }
}

#[test]
fn processes_with_segments_share_the_rows() {
    let segments = ["0:1/3", "1/3:1/2", "1/2:1"];
    for options in ["{}", "{ strategy: 'shuffle', share: 'striped' }"] {
        let script = rows_script(60, options, 60);
        let mut all = Vec::new();
        for segment in segments {
            // Each with a seed of its own.
            let flags =
                format!("--execution-segment {segment} --execution-segment-sequence 0,1/3,1/2,1");
            all.extend(well(&flags, &script, "row "));
        }
        let mut ids: Vec<u32> = all.iter().map(|row| row.parse().expect("a row")).collect();
        ids.sort_unstable();
        assert!(ids.into_iter().eq(0..60), "{options}");
    }
    let circle = rows_script(60, "{ strategy: 'circular' }", 60);
    let half: BTreeSet<_> =
        well("--execution-segment 1/2 -i 300", &circle, "row ").into_iter().collect();
    assert_eq!(half.len(), 30);
    let instance = rows_script(30, "{ share: 'instance' }", 60);
    assert_eq!(well("--execution-segment 1/2", &instance, "row ").len(), 30);
}

#[test]
fn a_test_of_several_processes_refuses_what_they_cannot_share() {
    let rows = rows_script(60, "{ share: 'leased' }", 60);
    let thing = |kind: &str, options: &str| {
        format!(
            "import {{ {kind} }} from 'brunt/data';
            {kind}('all', {options});
            export default function () {{ console.log('row'); }}"
        )
    };
    for (script, kind, remedy) in [
        (rows, "rows", "\"striped\" gives each process rows of its own"),
        (thing("queue", "undefined"), "queue", "{ share: 'instance' }"),
        (thing("counter", "{ start: 5 }"), "counter", "{ share: 'instance' }"),
    ] {
        for (flags, reason) in [
            ("--execution-segment 1/2", "this process runs the segment 0:1/2 of the test"),
            ("-e BRUNT_SEATS=3", "this process is one of 3 (BRUNT_SEATS)"),
        ] {
            let refused = run(flags, &script);
            assert_eq!(refused.code, 107, "{refused:?}");
            assert_eq!(told(&refused, "row").len(), 0, "{refused:?}");
            let said = &refused.stderr;
            let start = format!("{kind} \"all\": {reason}");
            assert!(said.contains(&start) && said.contains(remedy), "{refused:?}");
            assert!(said.contains("s.js:2:"), "{refused:?}");
        }
    }
    for kind in ["queue", "counter"] {
        let own = thing(kind, "{ share: 'instance' }");
        assert_eq!(run("--execution-segment 1/2 --vus 2 -i 2", &own).code, 0, "{kind}");
    }
}

#[test]
fn the_seed_decides_random_and_shuffled_rows() {
    for strategy in ["random", "shuffle"] {
        let script = rows_script(1000, &format!("{{ strategy: '{strategy}' }}"), 20)
            .replace("vus: 30", "vus: 1");
        let of = |flags| well(flags, &script, "row ");
        let first = of("--seed 7");
        assert_eq!(first.len(), 20);
        assert_eq!(first, of("--seed 7"), "{strategy}");
        assert_ne!(first, of("--seed 8"), "{strategy}");
    }
}

#[test]
fn rows_come_from_arrays_shared_arrays_and_csv_files() {
    let script = "
        import { rows } from 'brunt/data';
        import { SharedArray } from 'k6/data';
        import { open as openFile } from 'k6/experimental/fs';
        import csv from 'k6/experimental/csv';
        const table = await csv.parse(await openFile('t.csv'), { asObjects: true });
        const kept = new SharedArray('kept', () => [[1, new Uint8Array([7])], 'text']);
        const all = [
          rows('array', [{ a: 1 }, null]), rows('csv', table), rows('shared', kept), rows('inner', () => kept),
          rows('file', () => JSON.parse(open('f.json'))),
        ];
        export const options = { iterations: 2 };
        export default function () {
          const show = (row) => (Array.isArray(row) ? row.map((each) => each[0] ?? each) : JSON.stringify(row));
          console.log('got ' + all.map((each) => `${each.name} ${show(each.next())} of ${each.length}`).join('; '));
          const row = all[1].next.call(all[4]);
          if (row && !Object.isFrozen(row)) throw new Error('rows are frozen');
        }";
    let ended = brunt("run -q --no-summary --log-format raw s.js")
        .file("s.js", script)
        .file("t.csv", "name,age\nada,36\n\"a, b\",2\n")
        .file("f.json", r#"[{"x":[1]},{"x":[2]},{"x":[3]},{"x":[4]}]"#)
        .told();
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(
        told(&ended, "got "),
        [
            r#"array {"a":1} of 2; csv {"age":"36","name":"ada"} of 2; shared 1,7 of 2; inner 1,7 of 2; file {"x":[1]} of 4"#,
            r#"array null of 2; csv {"age":"2","name":"a, b"} of 2; shared "text" of 2; inner "text" of 2; file {"x":[3]} of 4"#,
        ]
    );
}

#[test]
fn a_queue_hands_values_on_and_has_bounds() {
    let script = "
        import { queue, counter } from 'brunt/data';
        const jobs = queue('jobs', { max: 3 });
        const wide = queue('wide');
        const sum = counter('sum', { start: 10 });
        const said = (f) => { try { return JSON.stringify(f()); } catch (e) { return `${e.name}: ${e.message}`; } };
        const early = [said(() => jobs.put(1)), said(() => sum.add()), said(() => sum.value), said(() => jobs.length)];
        export default function () {
          const say = (f) => console.log('got ' + said(f));
          early.forEach((text) => console.log('got ' + text));
          const job = { id: 1, at: new Date(0), none: undefined };
          say(() => [jobs.put(job), jobs.put('b'), jobs.put(null), jobs.put('d'), jobs.putBack('e'), jobs.length, jobs.refused]);
          say(() => { const one = jobs.take(); one.id = 5; return [one, jobs.putBack('back'), jobs.take(), jobs.take(), jobs.take(), jobs.take()]; });
          say(() => wide.put(new Uint8Array(3)));
          say(() => wide.put({ deep: [new ArrayBuffer(1)] }));
          say(() => wide.put(undefined));
          say(() => wide.put(() => 1));
          say(() => { const ring = {}; ring.ring = ring; return wide.put(ring); });
          say(() => wide.put('x'.repeat(1 << 20)));
          say(() => [sum.add(), sum.add(5), sum.add(-20), sum.value]);
          say(() => sum.add(0.5));
          say(() => sum.add('1'));
          say(() => sum.add(Number.MAX_SAFE_INTEGER) && sum.add(Number.MAX_SAFE_INTEGER));
          say(() => queue('late'));
        }";
    let ended = run("", script);
    assert_eq!(ended.code, 0, "{ended:?}");
    let lines = told(&ended, "got ");
    assert_eq!(
        lines,
        [
            "GoError: put() of a queue in the init context is not supported",
            "GoError: add() of a counter in the init context is not supported",
            "10",
            "0",
            "[true,true,true,false,false,3,2]",
            r#"[{"id":5,"at":"1970-01-01T00:00:00.000Z"},true,"back","b",null,null]"#,
            "TypeError: queue \"wide\" keeps JSON, which has no bytes: put them in as text, with encoding.b64encode()",
            "TypeError: queue \"wide\" keeps JSON, which has no bytes: put them in as text, with encoding.b64encode()",
            "TypeError: queue \"wide\": undefined and functions can't be put into it: it keeps JSON",
            "TypeError: queue \"wide\": undefined and functions can't be put into it: it keeps JSON",
            "TypeError: Converting circular structure to JSON",
            "GoError: queue \"wide\": the value is too large, 1048578 bytes of JSON: at most 1048576",
            "[11,16,-4,-4]",
            "TypeError: counter \"sum\": add() takes a whole number",
            "TypeError: counter \"sum\": add() takes a whole number",
            "GoError: counter \"sum\": 9007199254740987 and 9007199254740991 are more than a script can count: 9007199254740991",
            "GoError: queue() must be called in the init context: at the top of the script",
        ]
    );
    assert_eq!(
        ended.stderr.matches("queue \"jobs\" is full with 3 values").count(),
        1,
        "{ended:?}"
    );
}

#[test]
fn values_pass_between_vus_and_none_is_lost() {
    let script = "
        import { queue, counter } from 'brunt/data';
        const jobs = queue('jobs', { max: 1000 });
        const put = counter('put'), taken = counter('taken'), sum = counter('sum');
        const once = { executor: 'shared-iterations', vus: 10, iterations: 2000 };
        export const options = { scenarios: {
          makers: { ...once, exec: 'make' }, users: { ...once, exec: 'use' },
        } };
        export function setup() { return jobs.put({ n: 0 }); }
        export function make() { const n = put.add(); if (!jobs.put({ n })) { sum.add(n); taken.add(); } }
        export function use() {
          const job = jobs.take();
          if (job === null) return;
          if (job.n % 7 === 1 && !job.again && jobs.putBack({ ...job, again: true })) return;
          sum.add(job.n); taken.add();
        }
        export function teardown(was) {
          for (let job; (job = jobs.take()) !== null; ) { sum.add(job.n); taken.add(); }
          console.log(`end ${was} ${put.value} ${taken.value} ${sum.value} ${jobs.length}`);
        }
        export function handleSummary() { return { stdout: `${put.value} ${jobs.take()}` }; }";
    let ended = brunt("run -q --log-format raw s.js").file("s.js", script).told();
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(told(&ended, "end "), ["true 2000 2001 2001000 0"]);
    assert_eq!(ended.stdout.trim(), "2000 null");
}

#[test]
fn a_counter_gives_no_value_twice() {
    let script = "
        import { counter } from 'brunt/data';
        const orders = counter('orders', { start: 1000 });
        export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 20, iterations: 2000 } } };
        export default function () { console.log('order ' + orders.add()); }";
    let orders = well("", script, "order ");
    let mut orders: Vec<u32> = orders.iter().map(|order| order.parse().expect("one")).collect();
    orders.sort_unstable();
    assert!(orders.into_iter().eq(1001..=3000));
}

#[test]
fn wrong_arguments_are_told() {
    let script = "
        import data, { rows, queue, counter } from 'brunt/data';
        const said = (f) => { try { return typeof f(); } catch (e) { return `${e.name}: ${e.message}`; } };
        rows('known', [1]);
        const lines = [
          said(() => rows()), said(() => rows('')), said(() => rows('a')), said(() => rows('a', 5)), said(() => rows('a', () => 5)),
          said(() => rows('a', async () => [])), said(() => rows('a', Promise.resolve([]))), said(() => rows('a', [])),
          said(() => rows('a', [1, undefined])), said(() => rows('a', () => { throw new RangeError('mine'); })),
          said(() => rows('a', [1], 'queue')), said(() => rows('a', [1], { strategy: 'shufle' })), said(() => rows('a', [1], { stratgy: 'queue' })),
          said(() => rows('a', [1], { whenEmpty: true })), said(() => rows('a', [1], { share: 'leased', strategy: 'random' })),
          said(() => rows('known', [1], { strategy: 'random' })), said(() => queue('q', { max: 0 })), said(() => counter('c', { start: 1.5 })),
          said(() => queue(5)), said(() => data.queue('q')), said(() => counter('c')), said(() => rows('known', [1]).next()),
          said(() => Object.getPrototypeOf(counter('c')).add.call({})), said(() => rows('a', [1], { strategy: 'random', whenEmpty: 'null' })),
        ];
        export default function () { lines.forEach((line) => console.log('got ' + line)); }";
    let lines = well("", script, "got ").join("\n");
    insta::assert_snapshot!(lines, @r#"
    TypeError: rows() needs a name, by which all VUs find the same one: a text of 1 to 128 bytes
    TypeError: rows() needs a name, by which all VUs find the same one: a text of 1 to 128 bytes
    TypeError: rows "a": the second argument gives the rows: a function that returns an array, an array, a SharedArray, or what `await csv.parse()` resolves to
    TypeError: rows "a": the second argument gives the rows: a function that returns an array, an array, a SharedArray, or what `await csv.parse()` resolves to
    GoError: rows "a": the function must return an array
    TypeError: rows "a": the function must not be async: give what it resolves to, with await
    TypeError: rows "a": a promise is no source of rows: put await before it
    TypeError: rows "a": there are no rows: the array is empty
    TypeError: rows "a": row 1 (counted from 0) is undefined
    RangeError: mine
    TypeError: rows "a": the options are an object with strategy, share, whenEmpty
    TypeError: rows "a": strategy is one of "queue", "circular", "random", "shuffle"; did you mean "shuffle"?
    TypeError: rows "a": there is no option "stratgy"; did you mean "strategy"?
    TypeError: rows "a": whenEmpty is one of "stop", "null", "throw"
    TypeError: rows "a": share "leased" is for rows that are used once: it goes with the strategies "queue" and "shuffle"
    GoError: rows "known" were made with other options before: give each its own name, or all the same options
    TypeError: queue "q": max is a whole number from 1 to 10000000
    TypeError: counter "c": start is a whole number from -9007199254740991 to 9007199254740991
    TypeError: queue() needs a name, by which all VUs find the same one: a text of 1 to 128 bytes
    object
    object
    GoError: next() of rows in the init context is not supported
    TypeError: this is not a counter of brunt/data
    TypeError: rows "a": whenEmpty is for rows that are used once, by the strategies "queue" and "shuffle": others have no end
    "#);
}

#[test]
fn archives_and_inspect_have_it_too() {
    let script = rows_script(3, "{}", 3).replace("vus: 30", "vus: 2");
    let mut archive = brunt("archive -O a.tar s.js").file("s.js", &script);
    let archived = archive.told();
    assert_eq!(archived.code, 0, "{archived:?}");
    let tar = std::fs::read(archive.path("a.tar")).expect("an archive");
    let ended = brunt("run -q --no-summary --log-format raw a.tar").file("a.tar", tar).told();
    assert_eq!((ended.code, told(&ended, "row ").len()), (0, 3), "{ended:?}");
    let leased = rows_script(3, "{ share: 'leased' }", 3);
    let inspected = brunt("inspect s.js").file("s.js", leased).told();
    assert_eq!(inspected.code, 0, "{inspected:?}");
}
