//! Any text as a stream of events, for the reader of `EventSource`, which is JavaScript.
//!
//! It must find the events that the standard's rules give (a second reader below, over the whole text), however the text was
//! cut. Bytes become text before, which is not tried here.
#![no_main]

use std::rc::Rc;

use brunt_quickjs::{Ctx, Hooks, Value, Vm};
use libfuzzer_sys::fuzz_target;

const STACK: usize = 1 << 20;

/// The globals that the reader needs, with a `fetch` that gives the pieces, and a function that tells the events.
const AROUND: &str = "(function () {
  let pieces = [];
  globalThis.setTimeout = (f) => { Promise.resolve().then(f); return 0; };
  globalThis.clearTimeout = () => {};
  globalThis.TextDecoder = class { decode(text) { return text; } };
  const reader = { read: async () => (pieces.length > 0 ? { value: pieces.shift() } : { done: true }) };
  const web = {
    AbortController: class { abort() {} },
    dictionary: (it) => it ?? {},
    domException: (message) => new Error(message),
    href: (url) => url,
    sseEvent: () => 0,
    name() {},
    fetch: async (url) =>
      ({ status: 200, url, headers: { get: () => 'text/event-stream' }, body: { getReader: () => reader } }),
  };
  globalThis.read = (...given) => {
    pieces = given;
    globalThis.told = [];
    const source = new web.EventSource('http://a.test/');
    source.dispatchEvent = (event) => {
      if ('data' in event) told.push([event.type, event.lastEventId, event.data]);
      else if (event.type === 'error') source.close();
    };
  };
  return web;
})()";

const READER: &str = include_str!("../../crates/modules/src/globals/web/sse.js");

struct Page {
    vm: Vm,
    runs: u32,
}

fn run<'js>(ctx: Ctx<'js>, name: &str, source: &str) -> Value<'js> {
    ctx.eval(name, source).unwrap_or_else(|_| thrown(ctx))
}

fn thrown(ctx: Ctx<'_>) -> ! {
    let exception = ctx.take_exception().map(|it| it.value.to_string_lossy().unwrap_or_default());
    panic!("the reader threw {exception:?}");
}

impl Page {
    fn new() -> Self {
        let vm = Vm::new(Rc::new(()), Hooks::default(), STACK);
        {
            let ctx = vm.ctx();
            let web = run(ctx, "around.js", AROUND);
            let reader = run(ctx, "sse.js", READER);
            reader.call(&ctx.undefined(), &[web]).unwrap_or_else(|_| thrown(ctx));
        }
        Self { vm, runs: 0 }
    }

    /// The events as JSON.
    fn events(&mut self, pieces: &[&str]) -> String {
        self.vm.on_this_stack(STACK);
        let ctx = self.vm.ctx();
        let text = |piece: &&str| ctx.string(piece).unwrap_or_else(|_| thrown(ctx));
        let pieces: Vec<Value<'_>> = pieces.iter().map(text).collect();
        let read = run(ctx, "read.js", "read");
        read.call(&ctx.undefined(), &pieces).unwrap_or_else(|_| thrown(ctx));
        while ctx.run_job().unwrap_or_else(|_| thrown(ctx)) {}
        let told = run(ctx, "told.js", "JSON.stringify(told)").to_string_lossy();
        self.runs += 1;
        if self.runs.is_multiple_of(256) {
            self.vm.collect();
        }
        told.unwrap_or_else(|_| thrown(ctx))
    }
}

/// The events of a whole text, by the rules of the HTML standard (9.2.6).
fn expected(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let (mut events, mut last) = (Vec::new(), String::new());
    let (mut kind, mut data, mut id) = (String::new(), Vec::new(), None);
    let mut lines: Vec<&str> = text.split('\n').collect();
    // A line without an end does not count.
    lines.pop();
    for line in lines {
        if line.is_empty() {
            last = id.clone().unwrap_or(last);
            if !data.is_empty() {
                let kind = if kind.is_empty() { "message" } else { &kind };
                events.push(serde_json::json!([kind, last, data.join("\n")]));
            }
            (kind, data) = (String::new(), Vec::new());
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value).to_owned();
        match field {
            "event" => kind = value,
            "data" => data.push(value),
            "id" if !value.contains('\0') => id = Some(value),
            _ => {}
        }
    }
    serde_json::Value::Array(events).to_string()
}

/// The text in pieces of about `step` bytes.
fn pieces(mut text: &str, step: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    while !text.is_empty() {
        let end = (step..).find(|end| text.is_char_boundary(*end) || *end >= text.len());
        let (piece, rest) = text.split_at(end.unwrap_or(step).min(text.len()));
        pieces.push(piece);
        text = rest;
    }
    pieces
}

thread_local!(static PAGE: std::cell::RefCell<Option<Page>> = const { std::cell::RefCell::new(None) });

fuzz_target!(|input: &[u8]| {
    let Some((&control, bytes)) = input.split_first() else { return };
    let text = String::from_utf8_lossy(bytes);
    PAGE.with_borrow_mut(|page| {
        let page = page.get_or_insert_with(Page::new);
        let expected = expected(&text);
        for step in [usize::from(control) + 1, 1 << 20] {
            // Arguments of a call are limited.
            if text.len() / step < 2000 {
                let told = page.events(&pieces(&text, step));
                let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
                assert_eq!(told.to_string(), expected, "cut after {step} bytes");
            }
        }
    });
});
