// 39: with no VU at the start the first iteration is dropped, and so is the second, which asks for a VU
export const options = {
  scenarios: { a: { executor: 'constant-arrival-rate', rate: 2, duration: '1200ms', preAllocatedVUs: 0, maxVUs: 2 } },
  thresholds: { dropped_iterations: ['count==2'], iterations: ['count==1'] },
};
export default function () {}
