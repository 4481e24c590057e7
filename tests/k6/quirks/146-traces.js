// 146: lines of a trace
import { group, check } from 'k6';
import http from 'k6/http';
class Page { constructor(url) { this.url = url; } load() { return http.get(); } get title() { return this.missing.text; } static open(url) { return new Page(url).load(); } }
const steps = [() => Page.open('x'), () => new Page('x').title, () => group('g', () => { throw new Error('in a group'); }), () => check(1, { c: () => { throw new Error('in a check'); } }), () => [1].forEach((v) => v.a.b), () => JSON.parse('{'), () => 'x'.replace(/x/, () => { throw new Error('in replace'); }), () => new Function('return missing')(), function named() { return named.deep.er; }];
export const options = { iterations: 9 };
export default function () { steps[__ITER](); }
