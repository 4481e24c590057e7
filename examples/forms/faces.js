// A client of applications in the manner of JSF, whose pages each bring a token that the next form must send back.

import http from 'k6/http';
import { check } from 'k6';

// The token of a page, or of an answer to a script in the browser.
function viewState(res, name) {
  if ((res.headers['Content-Type'] || '').startsWith('text/xml')) {
    const update = res.body.split(`${name}:`)[1];
    return update && update.split('<![CDATA[')[1].split(']]>')[0];
  }
  return res.html(`input[name="${name}"]`).first().val();
}

export class Faces {
  constructor(base, family = 'javax') {
    this.base = base;
    this.stateName = `${family}.faces.ViewState`;
  }

  // Loads a page and keeps its token.
  get(path, params) {
    return this.keep(http.get(this.base + path, params));
  }

  // Sends a form with the token of the page before.
  post(path, fields, params) {
    const form = Object.assign({}, fields, { [this.stateName]: this.token });
    return this.keep(http.post(this.base + path, form, params));
  }

  // Sends a form with a file: k6 makes it multipart/form-data, in which the token is not URL-encoded.
  upload(path, field, file, fields, params) {
    return this.post(path, Object.assign({ [field]: file }, fields), params);
  }

  // Sends a form as the script of the page does; only a part of the page comes back.
  ajax(path, fields, params) {
    const headers = { 'Faces-Request': 'partial/ajax' };
    return this.post(path, fields, Object.assign({ headers }, params));
  }

  // An error page has no token, whatever its status says.
  keep(res) {
    this.token = viewState(res, this.stateName);
    check(res, {
      'status is 200': (r) => r.status === 200,
      'the page has a token': () => !!this.token,
    });
    return res;
  }
}
