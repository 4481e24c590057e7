// 51: a threshold on a metric that nobody made is an error
export const options = { thresholds: { nope: ['count>0'] } };
export default function () {}
