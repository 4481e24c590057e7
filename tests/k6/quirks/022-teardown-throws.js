// 22: a teardown that throws
export default function () { console.log('ran'); }
export function teardown() { throw new Error('in teardown'); }
