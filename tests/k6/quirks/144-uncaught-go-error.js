// 144: an uncaught native error
import { fail } from 'k6';
function deeper() { fail('given up'); }
export default function () { deeper(); }
