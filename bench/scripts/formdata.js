// A form that grows byte by byte, as libraries for engines without Blobs make it: one list with a number per byte, which
// becomes a buffer in the end. Written for this bench; the way of working is what counts.
export class ByteForm {
  constructor() {
    this.mark = `bench${Math.random().toString(36).slice(2)}`;
    this.list = [];
  }

  /** The value of Content-Type. */
  get type() {
    return `multipart/form-data; boundary=${this.mark}`;
  }

  /** Adds a field with a text. */
  text(name, value) {
    this.write(`--${this.mark}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
  }

  /** Adds what `http.file()` made. */
  file(name, { filename, content_type: type, data }) {
    const about = `form-data; name="${name}"; filename="${filename}"\r\nContent-Type: ${type}`;
    this.write(`--${this.mark}\r\nContent-Disposition: ${about}\r\n\r\n`);
    const bytes = new Uint8Array(data);
    const list = this.list;
    for (let i = 0; i < bytes.length; i++) list.push(bytes[i]);
    this.write('\r\n');
  }

  /** Appends a text as UTF-8. */
  write(text) {
    for (const letter of text) {
      let code = letter.codePointAt(0);
      if (code < 0x80) {
        this.list.push(code);
        continue;
      }
      // Six bits go into each byte behind the first, which has room for fewer the more there are.
      let room = 0x3f;
      const behind = [];
      while (code > room) {
        behind.unshift(0x80 | (code & 0x3f));
        code >>= 6;
        room >>= 1;
      }
      this.list.push(((~room << 1) & 0xff) | code, ...behind);
    }
  }

  /** Everything, ended. */
  finish() {
    this.write(`--${this.mark}--\r\n`);
    return new Uint8Array(this.list).buffer;
  }
}
