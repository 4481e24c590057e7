import { x } from './back.js';
export const seen = () => x;
