// 51: a threshold that can't be parsed is an error
export const options = { thresholds: { iterations: ['count>>0'] } };
export default function () {}
