/** Writes documents: for tests and synthetic runs. */

import { Writer } from './bytes.js';
import type { MetricType } from './model.js';

/** Numbers of a series, slice by slice: its columns in the order of DATA.md §6, and packed histograms. */
export interface Chunk {
  series: number;
  type: MetricType;
  first: number;
  columns: ArrayLike<number>[];
  histograms?: (Uint8Array | null)[];
}

export class DocumentWriter {
  private readonly out = new Writer();

  constructor() {
    for (const byte of [0x42, 0x52, 0x4e, 0x50, 1]) this.out.byte(byte);
  }

  private record(kind: number, payload: Uint8Array): void {
    this.out.byte(kind);
    this.out.varint(payload.length);
    this.out.append(payload);
  }

  json(value: unknown): void {
    this.record(1, new TextEncoder().encode(JSON.stringify(value)));
  }

  reset(): void {
    this.record(3, new Uint8Array(0));
  }

  chunk({ series, first, columns, histograms }: Chunk): void {
    const writer = new Writer();
    const n = columns[0]!.length;
    writer.varint(series);
    writer.varint(first);
    writer.varint(n);
    for (const column of columns) writer.column(column);
    if (histograms) {
      writer.column(histograms.map((packed) => packed?.length ?? 0));
      for (const packed of histograms) if (packed) writer.append(packed);
    }
    this.record(2, writer.done());
  }

  done(): Uint8Array {
    return this.out.done();
  }
}
