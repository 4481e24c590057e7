// AWS's Signature Version 4, written as the helper libraries do: chains of binary HMACs, sorted headers, a canonical query.
import crypto from 'k6/crypto';

class Signer {
  constructor({ accessKeyId, secretAccessKey, region, service }) {
    Object.assign(this, { accessKeyId, secretAccessKey, region, service });
  }
  key(date) {
    let key = crypto.hmac('sha256', `AWS4${this.secretAccessKey}`, date, 'binary');
    for (const part of [this.region, this.service, 'aws4_request']) {
      key = crypto.hmac('sha256', key, part, 'binary');
    }
    return key;
  }
  sign({ method, path, query = {}, headers, body = '', time }) {
    const date = time.slice(0, 8);
    const encode = (text) => encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
    const canonicalQuery = Object.keys(query).sort().map((name) => `${encode(name)}=${encode(query[name])}`).join('&');
    const names = Object.keys(headers).map((name) => name.toLowerCase()).sort();
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    const lines = names.map((name) => `${name}:${String(lower[name]).trim().replace(/\s+/g, ' ')}\n`).join('');
    const signed = names.join(';');
    const request = [method, path, canonicalQuery, lines, signed, crypto.sha256(body, 'hex')].join('\n');
    const scope = `${date}/${this.region}/${this.service}/aws4_request`;
    const toSign = ['AWS4-HMAC-SHA256', time, scope, crypto.sha256(request, 'hex')].join('\n');
    const signature = crypto.hmac('sha256', this.key(date), toSign, 'hex');
    return `AWS4-HMAC-SHA256 Credential=${this.accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`;
  }
}

export default function () {
  // The published example: ListUsers on 30 August 2015.
  const signer = new Signer({
    accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY', region: 'us-east-1', service: 'iam',
  });
  console.log(crypto.hexEncode(signer.key('20150830')));
  console.log(signer.sign({
    method: 'GET', path: '/', query: { Version: '2010-05-08', Action: 'ListUsers' }, time: '20150830T123600Z',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8', Host: 'iam.amazonaws.com', 'X-Amz-Date': '20150830T123600Z' },
  }));
}
