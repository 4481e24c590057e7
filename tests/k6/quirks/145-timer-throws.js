// 145: an exception in a timer ends the iteration and its other timers
export default function () {
  setTimeout(() => { throw new Error('in timer'); }, 10);
  setTimeout(() => console.log('never'), 2000);
}
