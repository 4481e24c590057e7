import * as all from './back-all.js';
export const seen = () => all.x;
