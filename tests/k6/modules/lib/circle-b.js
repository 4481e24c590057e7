import { a } from './circle-a.js';
export const b = () => 'b' + typeof a;
