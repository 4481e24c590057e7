// k6/crypto/x509: all fields of two certificates.
import x509 from 'k6/crypto/x509';
import { getAltNames, getIssuer, getSubject, parse } from 'k6/crypto/x509';

const rsa = open('./lib/rsa.pem');
const ec = open('./lib/ec.pem');
function attempt(what, run) {
  try { console.log(what, run()); } catch (error) { console.log(what, 'throws', String(error)); }
}

export default function () {
  for (const pem of [rsa, ec]) {
    const { subject, issuer, notBefore, notAfter, altNames, signatureAlgorithm, fingerPrint, publicKey } = parse(pem);
    console.log(JSON.stringify({ subject, issuer, notBefore, notAfter, altNames, signatureAlgorithm, fingerPrint }));
    console.log(publicKey.algorithm);
    console.log(JSON.stringify([getAltNames(pem), getIssuer(pem), getSubject(pem)]));
  }
  console.log(String(parse(rsa).publicKey.key.n), parse(rsa).publicKey.key.e);
  console.log(String(parse(ec).publicKey.key.x), String(parse(ec).publicKey.key.y));
  console.log(Object.keys(x509).sort().join());
  for (const [name, read] of Object.entries({ getAltNames, getIssuer, getSubject, parse })) {
    attempt(name, () => read('no certificate'));
  }
  attempt('junk', () => parse('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'));
}
