// 14: a script that exports no function is an error
export const options = { vus: 1 };
