// 8: an empty list of system tags turns them all off
import exec from 'k6/execution';
export const options = { systemTags: [] };
export default function () { console.log(Object.keys(exec.vu.tags).join()); }
