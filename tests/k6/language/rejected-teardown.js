// What an async teardown() throws is no exception of the script, but ends the run.
export default function () { console.log('ran'); }
export async function teardown() { await null; throw 'late'; }
