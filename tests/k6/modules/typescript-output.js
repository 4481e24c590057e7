// CommonJS output of tsc loads
import Named, { Kind, later, http } from './lib/ts-out.js';
export default async function () { console.log(new Named().hello(), Kind.B, Kind[0], http, await later()); }
