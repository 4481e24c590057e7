/** Numbers as people read them: three digits that count, a unit, thousands apart. */

const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

const forms = new Map<number, Intl.NumberFormat>();

/** `digits` digits that count, without zeros at the end, thousands apart. */
export function digits(value: number, count = 3): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? '–' : value > 0 ? '∞' : '−∞';
  if (value === 0) return '0';
  const size = Math.floor(Math.log10(Math.abs(value)));
  const decimals = Math.min(Math.max(count - 1 - size, 0), 12);
  let form = forms.get(decimals);
  if (!form) {
    // Making one takes longer than a hundred uses.
    form = new Intl.NumberFormat('en-US', { maximumFractionDigits: decimals });
    forms.set(decimals, form);
  }
  return form.format(value);
}

export function whole(value: number): string {
  return Number.isFinite(value) ? grouped.format(value) : digits(value);
}

/** A number of things: whole below a million, then short. */
export function amount(value: number): string {
  if (Math.abs(value) < 1e6) return Number.isInteger(value) ? whole(value) : digits(value);
  return short(value);
}

export function short(value: number): string {
  for (const [limit, unit] of [[1e12, ' T'], [1e9, ' G'], [1e6, ' M'], [1e4, ' k']] as const) {
    if (Math.abs(value) >= limit) return `${digits(value / (limit === 1e4 ? 1e3 : limit))}${unit}`;
  }
  return digits(value);
}

/** Milliseconds in the unit that suits them. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return digits(ms);
  const size = Math.abs(ms);
  if (size === 0) return '0 ms';
  if (size < 0.001) return `${digits(ms * 1e6)} ns`;
  if (size < 1) return `${digits(ms * 1e3)} µs`;
  if (size < 999.5) return `${digits(ms)} ms`;
  if (size < 119_500) return `${digits(ms / 1e3)} s`;
  if (size < 7_170_000) return `${digits(ms / 6e4)} min`;
  return `${digits(ms / 3.6e6)} h`;
}

export function bytes(value: number): string {
  for (const [limit, unit] of [[1e12, 'TB'], [1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB']] as const) {
    if (Math.abs(value) >= limit * 0.9995) return `${digits(value / limit)} ${unit}`;
  }
  return `${digits(value)} B`;
}

/** A share (0 to 1) as a percentage. */
export function percent(share: number): string {
  if (!Number.isFinite(share)) return '–';
  const value = share * 100;
  if (value === 0) return '0 %';
  if (value < 0.01) return '< 0.01 %';
  if (value > 99.99 && value < 100) return '> 99.99 %';
  return `${value.toFixed(value < 10 ? 2 : 1).replace(/\.?0+$/, '')} %`;
}

export function perSecond(value: number): string {
  return `${Math.abs(value) >= 1e6 ? short(value) : Math.abs(value) >= 100 ? whole(value) : digits(value, Math.abs(value) < 0.1 ? 2 : 3)}/s`;
}

/** Seconds since the start, as a clock shows them: 1:05, 1:02:03, 0.25 s below a second. */
export function clock(seconds: number, fine = false): string {
  const sign = seconds < 0 ? '−' : '';
  const all = Math.abs(seconds);
  const rest = all % 60;
  const part = fine ? rest.toFixed(rest % 1 === 0 ? 0 : rest * 10 % 1 === 0 ? 1 : 2).padStart(rest < 10 ? (rest % 1 === 0 ? 2 : 4) : 2, '0') : String(Math.floor(rest)).padStart(2, '0');
  const minutes = Math.floor(all / 60);
  if (minutes < 60) return `${sign}${minutes}:${part}`;
  return `${sign}${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}:${part}`;
}

/** A length of time in words of units: 10 min, 1 h 2 min 3 s, 0.3 s. */
export function length(seconds: number): string {
  if (!(seconds > 0)) return '0 s';
  if (seconds < 10) return `${digits(seconds, 2)} s`;
  const all = Math.round(seconds);
  const parts: string[] = [];
  const [h, m, s] = [Math.floor(all / 3600), Math.floor((all % 3600) / 60), all % 60];
  if (h) parts.push(`${h} h`);
  if (m) parts.push(`${m} min`);
  if (s || parts.length === 0) parts.push(`${s} s`);
  return parts.join(' ');
}

/** A number of a metric, by the meaning of its values. */
export function byContains(contains: string | undefined): (value: number) => string {
  return contains === 'time' ? duration : contains === 'data' ? bytes : contains === 'share' ? percent : amount;
}

/** Local time of a moment, in the zone of the run if the page knows it, else the reader's. */
export function local(started: string | undefined, seconds: number, zone: string | null | undefined, date = false): string {
  const at = started ? Date.parse(started) : Number.NaN;
  if (Number.isNaN(at)) return '';
  const options: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' };
  if (date) Object.assign(options, { year: 'numeric', month: '2-digit', day: '2-digit', timeZoneName: 'short' });
  if (zone) options.timeZone = zone;
  try {
    return new Intl.DateTimeFormat('sv-SE', options).format(at + seconds * 1000);
  } catch {
    // A zone that this browser does not know.
    return zone ? local(started, seconds, null, date) : '';
  }
}

/** Text for a cell of a CSV file; a text that a spreadsheet would take for a formula is told apart. */
export function csvCell(value: string | number): string {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '';
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
