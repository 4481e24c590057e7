// Of functions that a module declares twice the last one counts.
import http from 'k6/http';
function first() { return 'first'; }
export const options = { iterations: 1 };
export function shown() { return 'shown'; }
function first() { return `second ${typeof http.get}`; }
console.log(first(), shown());
function shown() { return 'shown later'; }
export default function () { console.log(first(), shown()); }
