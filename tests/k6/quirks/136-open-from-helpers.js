// 136: what a helper in another folder opens
import { read } from './lib/reader.js';
const tried = (f) => { try { return f(); } catch (e) { return e.name; } };
const here = tried(() => read('./lib/data.txt')), there = tried(() => read('./data.txt'));
export default function () { console.log(here, there); }
