// 10: K6_TAGS divides name and value with a colon
// env: K6_TAGS=a:1,b:2
import exec from 'k6/execution';
export default function () { console.log(JSON.stringify(exec.test.options.tags)); }
