// 6: the values of options.tags are strings
export const options = { tags: { a: 1 } };
export default function () {}
