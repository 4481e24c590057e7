// 59: a check of nothing passes, and null is handed on
import { check } from 'k6';
export default function () {
  console.log(check(1, {}), check(null, { isNull: (v) => v === null }), check(undefined, { u: (v) => v === undefined }));
  for (const bad of [undefined, null]) { try { console.log(check(1, bad)); } catch (e) { console.log(e.name); } }
}
