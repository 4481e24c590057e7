// 180: a VU may not open what the first init did not
if (__VU === 1) open('./lib/data.txt');
export default function () { console.log('never'); }
