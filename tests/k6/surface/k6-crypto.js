// k6/crypto: its exports
import m from 'k6/crypto';
const names = 'md4 md5 sha1 sha256 sha384 sha512 sha512_224 sha512_256 ripemd160 hmac createHash createHMAC randomBytes hexEncode'.split(' ');
export default function () {
  for (const k of names) console.log(k, k in m ? typeof m[k] : 'absent');
}
