// Small helpers of load tests, after the documentation of k6-utils.
import { randomBytes } from 'k6/crypto';
import exec from 'k6/execution';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** A random UUID of version 4; from a cryptographic source if `secure`. */
export function uuidv4(secure = false) {
  const bytes = secure
    ? new Uint8Array(randomBytes(16))
    : Uint8Array.from({ length: 16 }, () => Math.random() * 256);
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** A whole number, `min` and `max` among them. */
export function randomIntBetween(min, max) {
  return Math.floor(min + Math.random() * (max - min + 1));
}

/** One item of a list. */
export function randomItem(items) {
  return items[Math.floor(Math.random() * items.length)];
}

/** A text of `length` letters of `charset`. */
export function randomString(length, charset = LETTERS) {
  let text = '';
  for (let left = length; left > 0; left -= 1) text += charset[Math.floor(Math.random() * charset.length)];
  return text;
}

/** The answer of `findBetween` when it finds nothing: null since 1.2.0, an empty text before. */
const dialect = { nothing: null };

/** The text between two texts, the first one; with `repeat` a list of all. */
export function findBetween(content, left, right, repeat = false) {
  const found = [];
  let at = 0;
  for (;;) {
    const start = content.indexOf(left, at);
    const from = start + left.length;
    const end = start < 0 ? -1 : content.indexOf(right, from);
    if (end < 0) return found.length > 0 ? found : dialect.nothing;
    const text = content.substring(from, end);
    if (!repeat) return text;
    found.push(text);
    at = Math.max(end + right.length, at + 1);
  }
}

/** Stages that form a bell between minus two and two deviations, with a sixth of the time for each of its ends. */
export function normalDistributionStages(maxVus, durationSeconds, numberOfStages = 10) {
  const heights = Array.from({ length: numberOfStages + 1 }, (_, index) => {
    const x = (4 * index) / numberOfStages - 2;
    return Math.exp(-(x * x) / 2);
  });
  const peak = Math.max(...heights);
  const end = Math.ceil(durationSeconds / 6);
  const middle = Math.ceil((durationSeconds * 4) / (6 * numberOfStages));
  const stages = heights.map((height, index) => ({
    duration: `${index === 0 ? end : middle}s`,
    target: Math.round((height * maxVus) / peak),
  }));
  return [...stages, { duration: `${end}s`, target: 0 }];
}

const UNITS = { d: 86400000, h: 3600000, m: 60000, s: 1000, ms: 1 };

/** Milliseconds: `1h30m`, `5.2h`; without a unit they are milliseconds. Each unit once. */
export function parseDuration(text) {
  if (text == null || text.length < 1) throw new Error(`the duration '${text}' is empty`);
  const used = {};
  let total = 0;
  const clean = String(text).replace(/[^a-zA-Z0-9.]/g, '');
  for (const [whole, number, unit] of clean.matchAll(/([0-9]*\.?[0-9]*)([a-zA-Z]*)/g)) {
    if (whole === '') continue;
    const name = unit === '' ? 'ms' : unit;
    if (!(name in UNITS)) throw new Error(`'${unit}' is not a unit of time`);
    if (used[name]) throw new Error(`the duration '${text}' has the unit '${name}' twice`);
    used[name] = true;
    const value = parseFloat(number) * UNITS[name];
    total += name === 'ms' ? Math.trunc(value) : value;
  }
  return total;
}

function currentStages() {
  const { scenarios } = exec.test.options;
  const scenario = scenarios && scenarios[exec.scenario.name];
  if (!scenario) throw new Error(`the options have no scenario '${exec.scenario.name}'`);
  if (!scenario.stages) {
    throw new Error(
      `the scenario '${exec.scenario.name}' has no stages: only ramping-vus and ramping-arrival-rate have`,
    );
  }
  return scenario.stages;
}

/** The index of the stage that runs now; of the last one if the iteration outlives it. */
export function getCurrentStageIndex() {
  const stages = currentStages();
  const passed = Date.now() - exec.scenario.startTime;
  let end = 0;
  const index = stages.findIndex((stage) => {
    end += parseDuration(stage.duration);
    return passed < end;
  });
  return index < 0 ? stages.length - 1 : index;
}

/** Tags all samples of the iteration from now on with `stage`. */
export function tagWithCurrentStageIndex() {
  exec.vu.tags.stage = getCurrentStageIndex();
}

/** Tags them with `stage_profile`: ramp-up, steady or ramp-down. */
export function tagWithCurrentStageProfile() {
  const index = getCurrentStageIndex();
  const stages = currentStages();
  const change = index < 1 ? 1 : stages[index].target - stages[index - 1].target;
  let profile = 'steady';
  if (change > 0) profile = 'ramp-up';
  if (change < 0) profile = 'ramp-down';
  exec.vu.tags.stage_profile = profile;
}
