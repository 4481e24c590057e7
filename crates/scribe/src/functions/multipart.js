// A body of multipart/form-data from names with texts, lists of texts or files: names may come again.
function multipart(parts) {
  const boundary = `----${randomText(24, 'abcdefghijklmnopqrstuvwxyz0123456789')}`;
  const utf8 = (text) => unescape(encodeURIComponent(text)).split('');
  const bytes = (text) => new Uint8Array(utf8(text).map((char) => char.charCodeAt(0)));
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
}
