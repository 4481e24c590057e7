// 35: init code waits for its timers
if (__VU === 1) setTimeout(() => console.log('timer'), 30);
export default function () { console.log('iteration'); }
