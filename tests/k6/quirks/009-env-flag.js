// 9: -e sets variables of the script, never options
// flags: -e K6_VUS=5 -e NAME=v
import exec from 'k6/execution';
export default function () { console.log(__ENV.K6_VUS, __ENV.NAME, exec.test.options.scenarios.default.vus); }
