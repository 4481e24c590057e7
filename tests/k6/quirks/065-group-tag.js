// 65: the tag group holds the whole path
import { group } from 'k6';
import exec from 'k6/execution';
export default function () {
  console.log(JSON.stringify(exec.vu.tags.group));
  group('outer', () => { group('inner', () => console.log(exec.vu.tags.group)); console.log(exec.vu.tags.group); });
  group('', () => console.log(JSON.stringify(exec.vu.tags.group)));
  console.log(JSON.stringify(exec.vu.tags.group));
}
