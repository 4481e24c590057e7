// 4: an unknown option is only warned of
export const options = { iterationz: 3 };
export default function () { console.log('runs'); }
