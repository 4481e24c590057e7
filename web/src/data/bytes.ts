/** Reads and writes the numbers of the format: varints, zigzags, columns. */

export class DataError extends Error {}

/** Reads a stretch of bytes from front to back. Throws a DataError at the end of them. */
export class Reader {
  readonly bytes: Uint8Array;
  at: number;
  readonly end: number;

  constructor(bytes: Uint8Array, at = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  get done(): boolean {
    return this.at >= this.end;
  }

  byte(): number {
    if (this.at >= this.end) throw new DataError('The data end in the middle of a record.');
    return this.bytes[this.at++]!;
  }

  varint(): number {
    let byte = this.byte();
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    let scale = 128;
    do {
      byte = this.byte();
      value += (byte & 0x7f) * scale;
      scale *= 128;
      if (scale > 2 ** 63) throw new DataError('A number in the data is too long.');
    } while (byte >= 0x80);
    return value;
  }

  zigzag(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** The next `length` bytes as a reader of their own. */
  part(length: number): Reader {
    if (length > this.end - this.at) throw new DataError('The data end in the middle of a record.');
    const part = new Reader(this.bytes, this.at, this.at + length);
    this.at += length;
    return part;
  }

  double(): number {
    const part = this.part(8);
    return new DataView(part.bytes.buffer, part.bytes.byteOffset + part.at, 8).getFloat64(0, true);
  }

  /** Fills `column` from `first` with `n` numbers. */
  column(column: Float64Array, first: number, n: number): void {
    const mode = this.byte();
    switch (mode) {
      case 0:
        column.fill(0, first, first + n);
        return;
      case 1:
        this.zigzags(column, first, n, false, 1);
        return;
      case 2:
        for (let i = 0; i < n; i++) column[first + i] = this.double();
        return;
      case 3:
        this.zigzags(column, first, n, false, 1e6);
        return;
      case 4:
        this.zigzags(column, first, n, true, 1);
        return;
      case 5:
        this.zigzags(column, first, n, true, 1e6);
        return;
      default:
        throw new DataError(`A column of the data has mode ${mode}, which this page does not know.`);
    }
  }

  /** Zigzags divided by `scale`, or their running sums. Short ones, which are most, are read as 32-bit numbers. */
  private zigzags(column: Float64Array, first: number, n: number, running: boolean, scale: number): void {
    const { bytes } = this;
    let last = 0;
    for (let i = first; i < first + n; i++) {
      const { at } = this;
      let value: number;
      if (at + 3 < this.end) {
        const [a, b, c, d] = [bytes[at]!, bytes[at + 1]!, bytes[at + 2]!, bytes[at + 3]!];
        let packed = -1;
        if (a < 0x80) {
          packed = a;
          this.at = at + 1;
        } else if (b < 0x80) {
          packed = (a & 0x7f) | (b << 7);
          this.at = at + 2;
        } else if (c < 0x80) {
          packed = (a & 0x7f) | ((b & 0x7f) << 7) | (c << 14);
          this.at = at + 3;
        } else if (d < 0x80) {
          packed = (a & 0x7f) | ((b & 0x7f) << 7) | ((c & 0x7f) << 14) | (d << 21);
          this.at = at + 4;
        }
        value = packed < 0 ? this.zigzag() : (packed >>> 1) ^ -(packed & 1);
      } else value = this.zigzag();
      if (running) {
        last += value;
        value = last;
      }
      column[i] = scale === 1 ? value : value / scale;
    }
  }
}

/** Bytes that grow. */
export class Writer {
  private bytes = new Uint8Array(256);
  length = 0;

  private room(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const bytes = new Uint8Array(Math.max(this.bytes.length * 2, this.length + more));
    bytes.set(this.bytes);
    this.bytes = bytes;
  }

  byte(value: number): void {
    this.room(1);
    this.bytes[this.length++] = value;
  }

  varint(value: number): void {
    while (value >= 128) {
      this.byte((value % 128) | 0x80);
      value = Math.floor(value / 128);
    }
    this.byte(value);
  }

  zigzag(value: number): void {
    this.varint(value >= 0 ? value * 2 : -value * 2 - 1);
  }

  double(value: number): void {
    this.room(8);
    new DataView(this.bytes.buffer).setFloat64(this.length, value, true);
    this.length += 8;
  }

  append(bytes: Uint8Array): void {
    this.room(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Writes a column in the shortest mode that gives back each number. */
  column(numbers: ArrayLike<number>): void {
    const n = numbers.length;
    let zero = true;
    let whole = true;
    let millionths = true;
    for (let i = 0; i < n; i++) {
      const value = numbers[i]!;
      if (!Object.is(value, 0)) zero = false;
      if (!Number.isSafeInteger(value) || Object.is(value, -0)) whole = false;
      if (!isMillionths(value)) millionths = false;
    }
    if (zero) {
      this.byte(0);
      return;
    }
    const modes: [number, number, boolean][] = whole
      ? [[1, 1, false], [4, 1, true]]
      : millionths
        ? [[3, 1e6, false], [5, 1e6, true]]
        : [];
    let best: Writer | undefined;
    for (const [mode, scale, differences] of modes) {
      const writer = new Writer();
      writer.byte(mode);
      let last = 0;
      for (let i = 0; i < n; i++) {
        const value = Math.round(numbers[i]! * scale);
        writer.zigzag(value - last);
        if (differences) last = value;
      }
      if (!best || writer.length < best.length) best = writer;
    }
    if (best && best.length < 1 + 8 * n) {
      this.append(best.done());
      return;
    }
    this.byte(2);
    for (let i = 0; i < n; i++) this.double(numbers[i]!);
  }

  done(): Uint8Array {
    return this.bytes.slice(0, this.length);
  }
}

/** Whether a value is a whole number of millionths, so that dividing gives it back. (Half of 2⁵³: a zigzag must fit.) */
export function isMillionths(value: number): boolean {
  const scaled = Math.round(value * 1e6);
  return Math.abs(scaled) < 2 ** 51 && scaled / 1e6 === value && !Object.is(value, -0);
}
