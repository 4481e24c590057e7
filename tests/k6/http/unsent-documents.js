// The document of a response that never came: of a request that could not be sent it is empty.
import http from 'k6/http';

const attempt = (name, run) => {
  try {
    console.log(name, run());
  } catch (e) {
    console.log(name, String(e));
  }
};

export default function () {
  for (const url of ['http:// not a url/', 'nope', 'http://127.0.0.1:1/']) {
    const res = http.get(url);
    attempt('html', () => res.html().size());
    attempt('selector', () => res.html('a').size());
    attempt('json', () => typeof res.json());
    attempt('submitForm', () => res.submitForm().status);
    attempt('clickLink', () => res.clickLink().status);
  }
}
