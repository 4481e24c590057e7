// 51: a threshold must fit its metric's type
export const options = { thresholds: { iterations: ['p(95)<1'] } };
export default function () {}
