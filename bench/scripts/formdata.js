// FormData as libraries for k6 do it: every part becomes an array of byte numbers, and these are pushed one by one.
// Written for this bench; the way of working is what counts, not the words.

function bytesOfText(text) {
  const bytes = [];
  for (let i = 0; i < text.length; i++) {
    let code = text.charCodeAt(i);
    if (code >= 0xd800 && code < 0xdc00 && i + 1 < text.length) {
      code = 0x10000 + ((code - 0xd800) << 10) + (text.charCodeAt(++i) - 0xdc00);
    }
    if (code < 0x80) {
      bytes.push(code);
    } else if (code < 0x800) {
      bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
    } else if (code < 0x10000) {
      bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    } else {
      bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    }
  }
  return bytes;
}

export function FormData() {
  if (!(this instanceof FormData)) return new FormData();
  this.boundary = '----FormDataOfTheBench' + Math.floor(Math.random() * 1e9);
  this.parts = [];
}

FormData.prototype.append = function (field, value, filename) {
  const isFile = value !== null && typeof value === 'object' && 'data' in value;
  this.parts.push({
    field,
    data: isFile ? value.data : value,
    filename: filename || (isFile ? value.filename : undefined),
    type: isFile ? value.content_type : undefined,
  });
};

FormData.prototype.body = function () {
  const body = [];
  const delimiter = bytesOfText('--' + this.boundary + '\r\n');
  for (const part of this.parts) {
    let head = `Content-Disposition: form-data; name="${part.field}"`;
    if (part.filename) head += `; filename="${part.filename}"`;
    if (part.type) head += `\r\nContent-Type: ${part.type}`;
    body.push(...delimiter);
    body.push(...bytesOfText(head + '\r\n\r\n'));
    const data = typeof part.data === 'string' ? bytesOfText(part.data) : new Uint8Array(part.data);
    for (let i = 0; i < data.length; i++) body.push(data[i]);
    body.push(13, 10);
  }
  body.push(...bytesOfText('--' + this.boundary + '--\r\n'));
  return new Uint8Array(body).buffer;
};
