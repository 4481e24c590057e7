/** A response of k6 whose json() has the type that the document tells. */
export type Reply<T> = Omit<Response, 'json'> & { json(): T };

/** The parts of a request beside its path. */
interface Call {
  query?: string[][];
  headers?: { [name: string]: unknown };
  cookies?: { [name: string]: unknown };
  contentType?: string;
  body?: RequestBody;
  security?: string[];
}

/** An array's elements or an object's values and keys, joined; anything else as text. */
function simple(value: unknown): string {
  if (Array.isArray(value)) return value.map((item) => String(item)).join(',');
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).map(([key, item]) => `${key},${item}`).join(',');
  }
  return String(value);
}

/** `name=value`; an array repeats the name, an object's keys are names. */
function form(name: string, value: unknown): string[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value.map((item) => pair(name, item));
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).filter(([, item]) => item !== undefined).map(([key, item]) => pair(key, item));
  }
  return [pair(name, value)];
}

/** `name=a,b`: an array's elements in one value. */
function joined(name: string, value: unknown, separator: string): string[] {
  if (value === undefined) return [];
  const text = Array.isArray(value) ? value.map((item) => String(item)).join(separator) : simple(value);
  return [pair(name, text)];
}

/** `name[key]=value` for each key of an object. */
function deep(name: string, value: unknown): string[] {
  if (value === undefined) return [];
  if (typeof value !== 'object' || value === null) return [pair(name, value)];
  return Object.entries(value).flatMap(([key, item]) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? deep(`${name}[${key}]`, item)
      : form(`${name}[${key}]`, item),
  );
}

/** A pair of a query or a form; what is no text is written as JSON. */
function pair(name: string, value: unknown): string {
  const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
  return `${encodeURIComponent(name)}=${encodeURIComponent(text)}`;
}

/** The fields of a form with files. Without files k6 would send another kind of form, so they are written here. */
function multipart(fields: object): { body: RequestBody; contentType?: string } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  const isFile = (value: unknown): value is FileData =>
    typeof value === 'object' && value !== null && 'content_type' in value;
  const text = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value));
  if (entries.some(([, value]) => isFile(value))) {
    const body = Object.fromEntries(entries.map(([name, value]) => [name, isFile(value) ? value : text(value)]));
    return { body };
  }
  const boundary = '----form-without-files';
  const parts = entries.map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text(value)}\r\n`,
  );
  return { body: `${parts.join('')}--${boundary}--\r\n`, contentType: `multipart/form-data; boundary=${boundary}` };
}
