// 18: setup without a result gives no data
export function setup() {}
export default function (data) { console.log(typeof data, arguments.length); }
export function teardown(data) { console.log(typeof data, arguments.length); }
