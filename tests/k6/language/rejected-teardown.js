// A throw of an async teardown() is not an exception of the script, but ends the run.
export default function () { console.log('ran'); }
export async function teardown() { await null; throw 'late'; }
