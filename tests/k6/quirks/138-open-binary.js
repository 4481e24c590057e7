// 138: open(file, 'b') is an ArrayBuffer
const text = open('./138-open-binary.js'), bytes = open('./138-open-binary.js', 'b');
console.log(typeof text, bytes instanceof ArrayBuffer, bytes instanceof Uint8Array, ArrayBuffer.isView(bytes), bytes.byteLength === text.length, new Uint8Array(bytes)[0] === text.charCodeAt(0));
for (const mode of ['', 'r', 'B', 'bb', null, undefined, 5, ['b']]) { const got = open('./138-open-binary.js', mode); console.log(JSON.stringify(mode), typeof got, got instanceof ArrayBuffer); }
export default function () { console.log(bytes.byteLength > 0, String(bytes), JSON.stringify(bytes)); }
