// 151: an unknown hash throws
import crypto from 'k6/crypto';
export default function () {
  try { crypto.hmac('nope', 'key', 'data', 'hex'); } catch (e) { console.log(e.name); }
  try { crypto.sha256('data', 'nope'); } catch (e) { console.log(e.name, e.message); }
}
