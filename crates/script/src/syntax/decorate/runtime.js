function __brunt_decorators() {
  const initializers = [];
  const elements = [];
  const keys = [];
  let metadata;
  const runAll = (list, self) => {
    for (const one of list) one.call(self);
  };
  // TypeScript's older decorators take (target, key, descriptor), those of ECMAScript (value, context).
  const second = /^[^(]*\(\s*[^,]*,\s*(?:property|prop|key|member|method|field|attribute|name)/i;
  const isOlder = (decorator) =>
    decorator.length > 2 ||
    (decorator.length === 2 && second.test(Function.prototype.toString.call(decorator)));
  const begin = (constructor) => {
    if (metadata) return;
    const of = typeof Symbol.metadata === 'symbol' ? Symbol.metadata : undefined;
    metadata = Object.create((of && Object.getPrototypeOf(constructor)?.[of]) ?? null);
    if (of) Object.defineProperty(constructor, of, { value: metadata, configurable: true });
  };
  const apply = (decorator, value, context, extra) => {
    let isOpen = true;
    context.metadata = metadata;
    context.addInitializer = (callback) => {
      if (!isOpen) throw new TypeError('addInitializer can only be called while decorating');
      if (typeof callback !== 'function') throw new TypeError('an initializer must be a function');
      extra.push(callback);
    };
    const result = decorator(value, context);
    isOpen = false;
    return result;
  };
  return {
    // The key of a member, computed once.
    key: (index, key) => (keys[index] = typeof key === 'symbol' ? key : String(key)),
    keys,
    // Decorates one member.
    member(constructor, index, kind, isStatic, key, decorators, access) {
      begin(constructor);
      const isField = kind === 'field';
      const target = isStatic ? constructor : constructor.prototype;
      const element = (elements[index] = { key, initial: [], extra: [], isOlder: false });
      const lasts = isField || kind === 'accessor';
      const extra = lasts ? element.extra : isStatic ? [] : initializers;
      let descriptor = isField ? undefined : Object.getOwnPropertyDescriptor(target, key);
      const part = kind === 'getter' ? 'get' : kind === 'setter' ? 'set' : 'value';
      for (const decorator of decorators.reverse()) {
        if (typeof decorator !== 'function') throw new TypeError('a decorator must be a function');
        if (isOlder(decorator)) {
          element.isOlder = true;
          descriptor = decorator(target, key, descriptor) ?? descriptor;
          continue;
        }
        const value = isField
          ? undefined
          : kind === 'accessor'
            ? { get: descriptor.get, set: descriptor.set }
            : descriptor[part];
        const context = {
          kind,
          name: key,
          static: isStatic,
          private: access !== undefined,
          access: access ?? {
            has: (object) => key in object,
            get: (object) => object[key],
            set: (object, to) => {
              object[key] = to;
            },
          },
        };
        const result = apply(decorator, value, context, extra);
        if (result === undefined) continue;
        if (kind === 'accessor') {
          if (result.get) descriptor.get = result.get;
          if (result.set) descriptor.set = result.set;
          if (result.init) element.initial.unshift(result.init);
        } else if (typeof result !== 'function') {
          throw new TypeError('a decorator must return a function or nothing');
        } else if (isField) {
          element.initial.unshift(result);
        } else {
          descriptor[part] = result;
        }
      }
      if (!isField) Object.defineProperty(target, key, descriptor);
      if (!lasts && isStatic) runAll(extra, constructor);
    },
    // The first value of a field or of what is behind an accessor.
    value: (index, self, value) =>
      elements[index].initial.reduce((last, initial) => initial.call(self, last), value),
    // After a field was set.
    after(index, self) {
      const { key, extra, isOlder } = elements[index];
      let owner = isOlder ? Object.getPrototypeOf(self) : null;
      while (owner && !Object.hasOwn(owner, key)) owner = Object.getPrototypeOf(owner);
      if (owner && !('value' in Object.getOwnPropertyDescriptor(owner, key))) {
        // An older decorator has put an accessor in the place of the field.
        const value = self[key];
        delete self[key];
        if (value !== undefined) self[key] = value;
      }
      runAll(extra, self);
    },
    // Before all fields of an object.
    before: (self) => runAll(initializers, self),
    // Gives a class the name that it would have without its translation.
    named(constructor, name) {
      const own = Object.getOwnPropertyDescriptor(constructor, 'name');
      if (!own || own.value === '') {
        Object.defineProperty(constructor, 'name', { value: name, configurable: true });
      }
      return constructor;
    },
    // Decorates the class itself.
    constructed(decorators, constructor) {
      begin(constructor);
      const extra = [];
      for (const decorator of decorators.reverse()) {
        if (typeof decorator !== 'function') throw new TypeError('a decorator must be a function');
        const context = { kind: 'class', name: constructor.name };
        const result = apply(decorator, constructor, context, extra);
        if (result === undefined) continue;
        if (typeof result !== 'function') {
          throw new TypeError('a decorator of a class must return a class or nothing');
        }
        constructor = result;
      }
      runAll(extra, constructor);
      return constructor;
    },
  };
}
