// 13: every VU sees the consolidated options in its own variable
export const options = { vus: __VU === 0 ? 1 : 7, iterations: 1, tags: { a: 'b' } };
export default function () { console.log(options.vus, options.iterations, options.tags.a); }
