// 51: a threshold on an unknown metric is an error
export const options = { thresholds: { nope: ['count>0'] } };
export default function () {}
