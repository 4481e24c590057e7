// 152: exec.scenario is there in iterations only
import exec from 'k6/execution';
const tried = (f) => { try { return f(); } catch (e) { return e.name; } };
const told = () => [() => exec.scenario.name, () => exec.scenario.iterationInTest, () => exec.vu.idInTest, () => exec.vu.iterationInScenario, () => typeof exec.test.options].map(tried).join();
console.log(__VU, told());
export function setup() { console.log('setup', told()); }
export default function () { console.log('iteration', told()); }
export function teardown() { console.log('teardown', told()); }
