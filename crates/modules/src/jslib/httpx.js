// Sessions over k6/http with the names and the behaviour of httpx.
import http from 'k6/http';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'];

/** The differences between the versions of httpx. */
const dialect = {
  /** Since 0.0.6, an address that is whole stays as it is; before, each address follows the base URL. */
  keepsWholeAddresses: true,
  /** Since 0.1.0, methods and the number of arguments are checked. */
  isStrict: true,
};

/** Whether the address comes from the template http.url and has a name. */
const hasName = (address) => typeof address === 'object' && address !== null && 'url' in address && 'name' in address;

/** Params of k6/http with those of `over` on top; headers and tags are put together. */
const joined = (under, over) => ({
  ...under,
  ...over,
  headers: { ...under?.headers, ...over?.headers },
  tags: { ...under?.tags, ...over?.tags },
});

/** A request that waits for `batch` or `execute`. The body is a part of the params. */
export class Request {
  constructor(method, url, params) {
    const { body, ...others } = params || {};
    this.method = method;
    this.url = url;
    this.body = body || null;
    this.params = others;
    if (hasName(url)) {
      this.url = url.url;
      this.addTag('name', url.name);
    }
  }

  addHeader(name, value) {
    this.params = joined(this.params, { headers: { [name]: value } });
    return this;
  }

  addTag(name, value) {
    this.params = joined(this.params, { tags: { [name]: value } });
    return this;
  }
}

const requestOf = (method) =>
  class extends Request {
    constructor(url, params) {
      super(method, url, params);
    }
  };

export const Get = requestOf('GET');
export const Head = requestOf('HEAD');
export const Post = requestOf('POST');
export const Put = requestOf('PUT');
export const Delete = requestOf('DELETE');
export const Connect = requestOf('CONNECT');
export const Options = requestOf('OPTIONS');
export const Trace = requestOf('TRACE');
export const Patch = requestOf('PATCH');

/** Settings of a session that are not params of k6/http. */
const OWN_SETTINGS = ['baseURL', 'errorMetric', 'errorMetricCondition', 'headers', 'tags', 'otherParams'];

/** A base URL, headers, tags and other params that all requests of a session share. */
export class Httpx {
  constructor(settings = {}) {
    this.baseURL = settings.baseURL ?? '';
    this.errorMetric = settings.errorMetric ?? null;
    this.errorMetricCondition = settings.errorMetricCondition ?? (({ status }) => status >= 200 && status < 400);
    this.lastRequest = { responseObject: null, responseChainDuration: null };
    const others = Object.entries(settings).filter(([name]) => !OWN_SETTINGS.includes(name));
    this.k6params = {
      headers: settings.headers ?? {},
      tags: settings.tags ?? {},
      ...Object.fromEntries(others),
      ...settings.otherParams,
    };
  }

  /** The params of the session; version 0.0.1 has them under this name. */
  get params() {
    return this.k6params;
  }

  /** Milliseconds from the call of the last request to its response. */
  get lastRequestChainDuration() {
    return this.lastRequest.responseChainDuration;
  }

  setBaseUrl(url) {
    this.baseURL = url;
  }

  addHeader(name, value) {
    this.k6params.headers[name] = value;
  }

  addHeaders(headers) {
    Object.assign(this.k6params.headers, headers);
  }

  clearHeader(name) {
    delete this.k6params.headers[name];
  }

  addTag(name, value) {
    this.k6params.tags[name] = value;
  }

  addTags(tags) {
    Object.assign(this.k6params.tags, tags);
  }

  clearTag(name) {
    delete this.k6params.tags[name];
  }

  execute({ method, url, body, params }) {
    return this.request(method, url, body, params);
  }

  request(...given) {
    const ready = this.#ready('request', given);
    const began = Date.now();
    const response = http.request(...ready);
    this.#keep(response, began);
    if (this.errorMetric) {
      const { expect } = ready[3];
      this.errorMetric.add(!(expect || this.errorMetricCondition)(response));
    }
    return response;
  }

  asyncRequest(...given) {
    return http.asyncRequest(...this.#ready('asyncRequest', given));
  }

  /** All requests at once: instances of Request, lists `[method, url, body, params]` or addresses to be got. */
  batch(requests, shared) {
    const ready = requests.map((given) => {
      const { method, url, body, params } = Array.isArray(given)
        ? { method: given[0], url: given[1], body: given[2], params: given[3] }
        : typeof given === 'string' || hasName(given)
          ? new Get(given)
          : given;
      return [method, this.#address(url), body || null, joined(this.k6params, joined(shared, params))];
    });
    const began = Date.now();
    const responses = http.batch(ready);
    this.#keep(responses, began);
    return responses;
  }

  #keep(response, began) {
    this.lastRequest.responseObject = response;
    this.lastRequest.responseChainDuration = Date.now() - began;
  }

  #ready(name, given) {
    const [method, url, body, params] = given;
    if (dialect.isStrict) {
      if (given.length < 2) throw new Error(`${name}() needs a method and a URL`);
      if (!METHODS.includes(method)) throw new Error(`'${method}' is not a method; use one of ${METHODS.join(', ')}`);
    }
    const all = joined(this.k6params, params);
    if (!hasName(url)) return [method, this.#address(url), body, all];
    all.tags.name = url.name;
    return [method, this.#address(url.url), body, all];
  }

  #address(url) {
    const text = String(url);
    return dialect.keepsWholeAddresses && text.startsWith('http') ? text : this.baseURL + text;
  }
}

for (const method of METHODS) {
  const name = method.toLowerCase();
  const define = (key, value) => {
    Object.defineProperty(Httpx.prototype, key, { configurable: true, writable: true, value });
  };
  define(name, function (url, body, params) {
    return this.request(method, url, body, params);
  });
  define(`async${name[0].toUpperCase()}${name.slice(1)}`, function (url, body, params) {
    return this.asyncRequest(method, url, body, params);
  });
}
