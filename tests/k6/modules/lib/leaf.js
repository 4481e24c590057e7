export const one = 1;
export let counter = 0;
export function bump() { counter += 1; return counter; }
export default function () { return 'leaf'; }
