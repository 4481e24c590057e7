// 53: a threshold with a unit is an error
export const options = { thresholds: { http_req_duration: ['p(95)<500ms'] } };
export default function () {}
