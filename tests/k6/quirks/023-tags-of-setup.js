// 23: setup and teardown have a group of their own and no scenario
import exec from 'k6/execution';
export function setup() { console.log(Object.keys(exec.vu.tags).sort().map((k) => `${k}=${exec.vu.tags[k]}`).join()); }
export default function () { console.log(Object.keys(exec.vu.tags).sort().map((k) => `${k}=${exec.vu.tags[k]}`).join()); }
export function teardown() { console.log(Object.keys(exec.vu.tags).sort().map((k) => `${k}=${exec.vu.tags[k]}`).join()); }
