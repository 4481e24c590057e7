// k6/crypto/x509: its exports
import m from 'k6/crypto/x509';
const names = 'parse getAltNames getIssuer getSubject'.split(' ');
export default function () {
  for (const k of names) console.log(k, k in m ? typeof m[k] : 'absent');
}
