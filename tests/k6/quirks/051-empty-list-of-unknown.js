// 51: a threshold on a metric that does not exist is an error, even with an empty list.
export const options = { thresholds: { 'unknown_metric{a:b}': [] } };
export default function () {}
