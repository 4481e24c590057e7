// 141: the globals that k6 has
export default function () {
  console.log([typeof __ENV, typeof __VU, typeof console, typeof crypto, typeof open, typeof require, typeof setTimeout, typeof clearTimeout, typeof setInterval, typeof clearInterval, typeof global, typeof globalThis, typeof escape].join());
  console.log([typeof window, typeof process, typeof Buffer, typeof document, typeof self, typeof navigator, typeof setImmediate, typeof XMLHttpRequest, typeof location].join());
}
