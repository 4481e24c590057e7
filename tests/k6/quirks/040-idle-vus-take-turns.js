// 40: the VU that has waited longest gets the next iteration, so that all of them have their first
export const options = {
  scenarios: { a: { executor: 'constant-arrival-rate', rate: 20, duration: '1930ms', preAllocatedVUs: 5 } },
};
let token;
export default function () {
  if (!token) {
    token = `of VU ${__VU}`;
    console.log('logs in', __ITER);
  }
}
