// The parts of this folder share these functions. `web` holds native functions when this is called; the parts add their classes.
(function (web) {
  'use strict';
  const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

  function dictionary(value, what) {
    if (value === undefined || value === null) return {};
    if (!isObject(value)) throw new TypeError(`${what} must be an object`);
    return value;
  }

  // An error with a name of the DOM. The class is there if the script can reach it.
  function domException(message, name) {
    if (typeof DOMException === 'function') return new DOMException(message, name);
    return Object.defineProperty(new Error(message), 'name', { value: name, configurable: true, writable: true });
  }

  function show(object) {
    for (const key of Object.getOwnPropertyNames(object)) {
      if (!['constructor', 'length', 'name', 'prototype'].includes(key)) Object.defineProperty(object, key, { enumerable: true });
    }
  }

  Object.assign(web, {
    isObject,
    dictionary,
    domException,
    refused: (what) => new TypeError(`this is not ${/^[AE]/.test(what) ? 'an' : 'a'} ${what}`),
    // The key that only the parts can hand to a constructor that scripts must not call.
    token: {},
    // Gives a class the name that Object.prototype.toString shows; its members are enumerable, as Web IDL has it.
    name(made) {
      Object.defineProperty(made.prototype, Symbol.toStringTag, { value: made.name, configurable: true });
      for (let of = made.prototype; of !== Object.prototype; of = Object.getPrototypeOf(of)) show(of);
      show(made);
    },
  });
})
