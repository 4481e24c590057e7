// 136, 137, 138: open reads beside the script, in init code only
const text = open('./lib/data.txt'), bytes = open('./lib/data.txt', 'b');
const tried = (f) => { try { return f(); } catch (e) { return e.name; } };
const missing = tried(() => open('./lib/none.txt')), folder = tried(() => open('./lib')), empty = tried(() => open(''));
export default function () {
  console.log(JSON.stringify(text), bytes instanceof ArrayBuffer, bytes.byteLength, missing, folder, empty, tried(() => open('./lib/data.txt')));
}
