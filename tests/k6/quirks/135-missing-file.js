// 135: a file must be named with its ending
import x from './lib/nothing';
export default function () {}
