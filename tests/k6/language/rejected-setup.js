// A throw of an async setup() is not an exception of the script, but ends the run.
export async function setup() { await null; throw new TypeError('not ready'); }
export default function () { console.log('never'); }
export function teardown() { console.log('never either'); }
