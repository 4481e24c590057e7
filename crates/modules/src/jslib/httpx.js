// Sessions over k6/http, after the documentation of httpx.
import http from 'k6/http';

const WHOLE = /^[a-z][a-z0-9+.-]*:\/\//i;

/** Whether it is an address that `http.url` made, which has a name. */
const isTagged = (url) => typeof url === 'object' && url !== null && 'url' in url;

/** A request for `batch`. */
export class Request {
  constructor(method, url, body = null, params = {}) {
    this.method = method;
    this.url = url;
    this.body = body;
    this.params = params;
  }
}

const kind = (method) =>
  class extends Request {
    constructor(url, body = null, params = {}) {
      super(method, url, body, params);
    }
  };

export const Get = kind('GET');
export const Post = kind('POST');
export const Put = kind('PUT');
export const Patch = kind('PATCH');
export const Delete = kind('DELETE');
export const Options = kind('OPTIONS');
export const Head = kind('HEAD');
export const Trace = kind('TRACE');

/** Base URL, headers, tags and params that all requests of a session have. */
export class Httpx {
  constructor(options = {}) {
    const { baseURL = '', headers = {}, tags = {}, timeout = 60000, ...others } = options;
    this.baseURL = baseURL;
    this.headers = { ...headers };
    this.tags = { ...tags };
    this.timeout = timeout;
    this.params = others;
  }

  setBaseUrl(url) {
    this.baseURL = url;
  }

  addHeader(name, value) {
    this.headers[name] = value;
  }

  addHeaders(headers) {
    Object.assign(this.headers, headers);
  }

  clearHeader(name) {
    delete this.headers[name];
  }

  addTag(name, value) {
    this.tags[name] = value;
  }

  addTags(tags) {
    Object.assign(this.tags, tags);
  }

  clearTag(name) {
    delete this.tags[name];
  }

  request(method, url, body = null, params = {}) {
    return http.request(method, this.#address(url), body, this.#with(params, url));
  }

  asyncRequest(method, url, body = null, params = {}) {
    return http.asyncRequest(method, this.#address(url), body, this.#with(params, url));
  }

  /** Requests at once: addresses (to be got) and objects such as `new Get('/')`. `params` are for all of them. */
  batch(requests, params = {}) {
    return http.batch(
      requests.map((given) => {
        const request = typeof given === 'string' ? new Get(given) : given;
        const own = request.params || {};
        const shared = params || {};
        return {
          method: request.method,
          url: this.#address(request.url),
          body: request.body,
          params: this.#with(
            {
              ...shared,
              ...own,
              headers: { ...shared.headers, ...own.headers },
              tags: { ...shared.tags, ...own.tags },
            },
            request.url,
          ),
        };
      }),
    );
  }

  /** The address, behind the base unless it is whole. */
  #address(url) {
    const text = String(isTagged(url) ? url.url : url);
    return WHOLE.test(text) ? text : `${this.baseURL || ''}${text}`;
  }

  #with(params, url) {
    const own = params || {};
    const name = isTagged(url) ? { name: this.#address(url.name) } : {};
    return {
      ...this.params,
      timeout: this.timeout,
      ...own,
      headers: { ...this.headers, ...own.headers },
      tags: { ...this.tags, ...name, ...own.tags },
    };
  }
}

for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE']) {
  const name = method.toLowerCase();
  Object.defineProperty(Httpx.prototype, name, {
    configurable: true,
    writable: true,
    value(url, body = null, params = {}) {
      return this.request(method, url, body, params);
    },
  });
  Object.defineProperty(Httpx.prototype, `async${name[0].toUpperCase()}${name.slice(1)}`, {
    configurable: true,
    writable: true,
    value(url, body = null, params = {}) {
      return this.asyncRequest(method, url, body, params);
    },
  });
}

export default { Httpx, Request, Get, Post, Put, Patch, Delete, Options, Head, Trace };
