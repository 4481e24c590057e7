//! The functions that stand at the foot of a script: those that it calls, and no other.

use std::collections::BTreeSet;

/// A function of the script.
struct Function {
    name: &'static str,
    /// Its functions and imports: `import:NAME`.
    needs: &'static [&'static str],
    text: &'static str,
}

/// What a script calls: functions by name, imports as `import:NAME`.
#[derive(Debug, Default)]
pub(crate) struct Needs(BTreeSet<&'static str>);

/// Imports by what they bring, in the order of the script.
const IMPORTS: &[(&str, &str)] = &[
    ("http", "import http from 'k6/http';"),
    ("crypto", "import crypto from 'k6/crypto';"),
    ("SharedArray", "import { SharedArray } from 'k6/data';"),
    ("encoding", "import encoding from 'k6/encoding';"),
    ("exec", "import exec from 'k6/execution';"),
    ("parseHTML", "import { parseHTML } from 'k6/html';"),
    ("secrets", "import secrets from 'k6/secrets';"),
    ("WebSocket", "import { WebSocket } from 'k6/websockets';"),
];

const FUNCTIONS: &[Function] = &[
    Function {
        name: "think",
        needs: &["import:sleep"],
        text: "// Pauses as long as the user did, give or take a fifth.
function think(seconds) {
  sleep(seconds * PACE * (0.8 + 0.4 * Math.random()));
}",
    },
    Function {
        name: "found",
        needs: &["import:check", "import:fail"],
        text: "// The value that `take` gives, as text. Without one the iteration ends: nothing is sent with a wrong value.
function found(name, take) {
  let value;
  try {
    value = take();
  } catch (error) {
    // Whatever is not there is not found.
  }
  const isFound = value !== undefined && value !== null && value !== '';
  if (!check(value, { [`found ${name}`]: () => isFound })) fail(`${name} is not in the answer`);
  return String(value);
}",
    },
    Function {
        name: "formFields",
        needs: &["found"],
        text: "// The fields that a browser sends with a form, as the page filled them in; several of one name are a list.
function formFields(page, selector) {
  const form = page.find(selector).first();
  found(`form ${selector}`, () => form.size() || '');
  const fields = {};
  const add = (name, value) => {
    const text = value.replace(/\\r?\\n/g, '\\r\\n');
    fields[name] = name in fields ? [].concat(fields[name], text) : text;
  };
  const all = form.find('input, select, textarea');
  for (let i = 0; i < all.size(); i += 1) {
    const field = all.eq(i);
    const name = field.attr('name');
    const type = (field.attr('type') || 'text').toLowerCase();
    const isBox = type === 'checkbox' || type === 'radio';
    const isOff = field.attr('disabled') !== undefined || field.closest('fieldset[disabled]').size() > 0;
    if (!name || isOff || (field.is('input') && /^(submit|button|reset|image|file)$/.test(type))) continue;
    if (field.is('select')) {
      const options = field.find('option');
      let chosen = field.find('option[selected]');
      if (chosen.size() === 0 && field.attr('multiple') === undefined) chosen = options.first();
      for (let k = 0; k < chosen.size(); k += 1) {
        const value = chosen.eq(k).attr('value');
        add(name, value === undefined ? chosen.eq(k).text().trim() : value);
      }
    } else if (field.is('textarea')) {
      add(name, field.text());
    } else if (!isBox || field.attr('checked') !== undefined) {
      add(name, field.attr('value') || (isBox && field.attr('value') === undefined ? 'on' : ''));
    }
  }
  return fields;
}",
    },
    Function {
        name: "without",
        needs: &[],
        text: "// The fields of a form but for these.
function without(fields, ...names) {
  const rest = { ...fields };
  names.forEach((name) => delete rest[name]);
  return rest;
}",
    },
    Function {
        name: "multipart",
        needs: &["randomText"],
        text: r#"// A body of multipart/form-data from names with texts, lists of texts or files: names may come again.
function multipart(parts) {
  const boundary = `----${randomText(24, 'abcdefghijklmnopqrstuvwxyz0123456789')}`;
  const bytes = (text) => Uint8Array.from(unescape(encodeURIComponent(text)), (c) => c.charCodeAt(0));
  const escaped = (text) => text.replace(/"/g, '%22').replace(/\r/g, '%0D').replace(/\n/g, '%0A');
  const one = (name, value) => {
    const isFile = typeof value === 'object';
    const file = isFile ? `; filename="${escaped(value.filename)}"\r\nContent-Type: ${value.content_type}` : '';
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"${file}\r\n\r\n`;
    const data = isFile ? value.data : value;
    return [bytes(head), typeof data === 'string' ? bytes(data) : new Uint8Array(data), bytes('\r\n')];
  };
  const all = parts.flatMap(([name, values]) => [].concat(values).flatMap((value) => one(name, value)));
  all.push(bytes(`--${boundary}--\r\n`));
  const body = new Uint8Array(all.reduce((size, part) => size + part.length, 0));
  all.reduce((at, part) => (body.set(part, at), at + part.length), 0);
  return { data: body.buffer, type: `multipart/form-data; boundary=${boundary}` };
}"#,
    },
    Function {
        name: "update",
        needs: &[],
        text: "// What a partial answer of JSF puts in place of the element whose id has this text in it.
function update(res, id) {
  const all = res.body.matchAll(/<update id=\"([^\"]*)\"><!\\[CDATA\\[([^]*?)\\]\\]><\\/update>/g);
  const [, , text] = [...all].find((own) => own[1].includes(id));
  return text;
}",
    },
    Function {
        name: "between",
        needs: &[],
        text: "// The text between two others; an empty one is the begin or the end.
function between(text, left, right, nth = 0) {
  const after = left === '' ? text : text.split(left).slice(nth + 1).join(left);
  const end = right === '' ? after.length : after.indexOf(right);
  if (end < 0 || (left !== '' && text.split(left).length < nth + 2)) return undefined;
  return after.slice(0, end);
}",
    },
    Function {
        name: "parameter",
        needs: &[],
        text: "// A parameter of a URL's query or fragment.
function parameter(url, name) {
  const decoded = (text) => decodeURIComponent(text.replace(/\\+/g, ' '));
  const pairs = url.split(/[?#&]/).map((pair) => pair.split('='));
  const pair = pairs.find(([key, ...value]) => value.length > 0 && decoded(key) === name);
  return pair && decoded(pair.slice(1).join('='));
}",
    },
    Function {
        name: "segment",
        needs: &[],
        text: "// A segment of a URL's path, from 0.
function segment(url, index) {
  const path = url.replace(/^[a-z]+:\\/\\/[^/?#]*/i, '').split(/[?#]/)[0];
  return decodeURIComponent(path.split('/')[index + 1]);
}",
    },
    Function {
        name: "absolute",
        needs: &[],
        text: "// A link as the page at this URL means it.
function absolute(page, link) {
  const [, origin, folder] = /^([a-z]+:\\/\\/[^/?#]*)([^?#]*\\/)?/i.exec(page);
  if (/^[a-z][a-z0-9+.-]*:/i.test(link)) return link.split('#')[0];
  if (link.startsWith('//')) return origin.split('//')[0] + link;
  if (link.startsWith('/')) return origin + link;
  if (link.startsWith('?') || link === '') return page.split(/[?#]/)[0] + link;
  const path = [];
  `${folder || '/'}${link}`.split('/').slice(1).forEach((part, i, all) => {
    if (part === '..') path.pop();
    if (part !== '..' && part !== '.') path.push(part);
    else if (i === all.length - 1) path.push('');
  });
  return `${origin}/${path.join('/')}`.split('#')[0];
}",
    },
    Function {
        name: "numbersAsText",
        needs: &[],
        text: "// JSON whose numbers are texts: some have more digits than JavaScript's numbers.
function numbersAsText(body) {
  const parts = /\"(?:[^\"\\\\]|\\\\.)*\"|-?\\d[\\d.eE+-]*/g;
  return JSON.parse(body.replace(parts, (part) => (part[0] === '\"' ? part : `\"${part}\"`)));
}",
    },
    Function {
        name: "unescapeHtml",
        needs: &["import:parseHTML"],
        text: "// A text of HTML: `&#43;` is `+`.
function unescapeHtml(text) {
  return parseHTML(`<p>${text}</p>`).find('p').text();
}",
    },
    Function {
        name: "uuid",
        needs: &[],
        text: "// A random UUID.
function uuid() {
  const digit = (mask, or) => ((Math.random() * 16) & mask | or).toString(16);
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'
    .replace(/x/g, () => digit(15, 0))
    .replace(/y/g, () => digit(3, 8));
}",
    },
    Function {
        name: "randomText",
        needs: &[],
        text: "// Random letters out of these.
function randomText(length, letters) {
  let text = '';
  while (text.length < length) text += letters[Math.floor(Math.random() * letters.length)];
  return text;
}",
    },
    Function {
        name: "events",
        needs: &[],
        text: "// The data of so many events of a server. EventSource is Brunt's: k6 has none.
function events(url, kinds, count, seconds, params) {
  return new Promise((resolve) => {
    const source = new EventSource(url, params);
    const all = [];
    const end = () => {
      source.close();
      resolve(all);
    };
    const timer = setTimeout(end, seconds * 1000);
    kinds.forEach((kind) => source.addEventListener(kind, (event) => {
      all.push(event.data);
      if (all.length === count) {
        clearTimeout(timer);
        end();
      }
    }));
  });
}",
    },
    Function {
        name: "eventData",
        needs: &[],
        text: "// The data of each event of an answer of text/event-stream.
function eventData(body) {
  const data = (event) => event.split(/\\r?\\n/).filter((line) => /^data(:|$)/.test(line));
  const blocks = body.split(/\\r?\\n\\r?\\n/).map(data).filter((lines) => lines.length > 0);
  return blocks.map((lines) => lines.map((line) => line.replace(/^data:? ?/, '')).join('\\n'));
}",
    },
];

impl Needs {
    /// The script calls this function, or uses this import (`import:NAME`).
    pub(crate) fn add(&mut self, name: &'static str) {
        if self.0.insert(name) {
            let function = FUNCTIONS.iter().find(|function| function.name == name);
            for needed in function.map_or(&[] as &[_], |function| function.needs) {
                self.add(needed);
            }
        }
    }

    /// Whether it does.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// The lines of imports.
    pub(crate) fn imports(&self) -> String {
        let mut k6: Vec<&str> = ["check", "fail", "group", "sleep"].into_iter().collect();
        k6.retain(|name| self.has(&format!("import:{name}")));
        let mut lines = Vec::new();
        if !k6.is_empty() {
            lines.push(format!("import {{ {} }} from 'k6';", k6.join(", ")));
        }
        let used = IMPORTS.iter().filter(|(name, _)| self.has(&format!("import:{name}")));
        lines.extend(used.map(|(_, line)| (*line).to_owned()));
        lines.join("\n")
    }

    /// The functions.
    pub(crate) fn functions(&self) -> impl Iterator<Item = &'static str> {
        FUNCTIONS.iter().filter(|function| self.has(function.name)).map(|function| function.text)
    }
}
