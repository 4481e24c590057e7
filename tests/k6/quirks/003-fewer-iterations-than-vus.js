// 3: fewer iterations than VUs are an error
export const options = { vus: 3, iterations: 2 };
export default function () {}
