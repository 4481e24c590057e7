// 30: an iteration ends when its timers have ended
export default function () {
  setTimeout(() => console.log('late'), 50);
  console.log('returned');
}
