// 168: what handleSummary returns is written instead of the summary
export default function () {}
export function handleSummary(data) {
  console.log(typeof data.state.testRunDurationMs, data.state.isStdOutTTY, typeof data.state.isStdErrTTY);
  return { stdout: 'to stdout\n', stderr: 'to stderr\n', 'file.txt': 'text', 'bytes.bin': new Uint8Array([1, 2]).buffer };
}
