// A promise that init code leaves rejected ends the run before it begins.
Promise.reject(new Error('left alone'));
export default function () { console.log('never'); }
