/** From the text in the page or in an event to bytes. */

/** Decodes base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };
  if (native.fromBase64) return native.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Unpacks gzip; other bytes stay as they are. */
export async function unpack(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  const stream = new DecompressionStream('gzip');
  const writer = stream.writable.getWriter();
  // What fails here fails in reading too, and is told there.
  writer.write(bytes).catch(() => undefined);
  writer.close().catch(() => undefined);
  // The last four bytes tell the length (modulo 2³²); it is a hint, not believed.
  const told = new DataView(bytes.buffer, bytes.byteOffset + Math.max(bytes.length - 4, 0)).getUint32(0, true);
  let all = new Uint8Array(Math.min(told, 64 * bytes.length));
  let length = 0;
  const reader = stream.readable.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (length + value.length > all.length) {
      const longer = new Uint8Array(Math.max(2 * all.length, length + value.length));
      longer.set(all.subarray(0, length));
      all = longer;
    }
    all.set(value, length);
    length += value.length;
  }
  return all.subarray(0, length);
}
