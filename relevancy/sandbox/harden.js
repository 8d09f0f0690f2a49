/* Run once in a fresh context, before any text of a user: takes away what a scorer has no use for and what no memory
   limit sees, and freezes the rest. A frozen `Object.prototype.toString` would make `o.toString = …` fail on every
   object that inherits it; where scripts assign such names, the property becomes an accessor that puts the value on
   the object assigned to. `watch` is called when a query takes hold of what makes promises, or code out of text: its
   promises are then settled before the next query begins. */
(function (watch) {
  "use strict";
  const GONE = [
    "WebAssembly", "SharedArrayBuffer", "Atomics", "ArrayBuffer", "DataView", "setTimeout", "clearTimeout",
    "WeakRef", "FinalizationRegistry", "console",
  ];
  const ASSIGNED = new Set(["toString", "valueOf", "toJSON", "toLocaleString"]);
  // Scripts put values of such names on lists; the names in every loop stay plain, since an accessor is slower.
  const HOT_OF_ARRAY = new Set(["constructor", "length", "push", "map", "forEach", "filter", "reduce", "slice", "join", Symbol.iterator]);
  const WATCHED = new Set(["Promise", "Function", "eval", "AsyncDisposableStack"]); // `async` and `import` stand in the text
  const KEPT_OF_REGEXP = new Set(["length", "name", "prototype", "escape", Symbol.species]);

  for (const name of Reflect.ownKeys(globalThis)) {
    const unwanted = GONE.includes(name) || (typeof name === "string" && /^(Big)?(Int|Uint|Float)\d+(Clamped)?Array$/.test(name));
    if (unwanted && !Reflect.deleteProperty(globalThis, name)) globalThis[name] = undefined;
  }
  // RegExp.$1 and its kin would tell one query what another matched.
  for (const name of Reflect.ownKeys(RegExp)) if (!KEPT_OF_REGEXP.has(name)) delete RegExp[name];
  Error.stackTraceLimit = 20;

  const errors = [
    Error, AggregateError, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError, globalThis.SuppressedError,
  ];
  const open = new Set([Object.prototype, Function.prototype]);
  for (const each of errors) if (each) open.add(each.prototype);

  function repair(object, key, descriptor) {
    const value = descriptor.value;
    const makesCode = object === Function.prototype && key === "constructor";
    Reflect.defineProperty(object, key, {
      configurable: false,
      enumerable: descriptor.enumerable,
      get() {
        if (makesCode) watch();
        return value;
      },
      set(next) {
        if (this === object) throw new TypeError(String(key) + " of a built-in object cannot be changed");
        Reflect.defineProperty(this, key, { value: next, writable: true, enumerable: true, configurable: true });
      },
    });
  }

  function watched(object, key) {
    const value = object[key];
    const get = () => { // an arrow: it has no `prototype` that would have to be frozen
      watch();
      return value;
    };
    Reflect.defineProperty(object, key, { get, set: undefined, enumerable: false, configurable: false });
    Object.freeze(get);
  }

  const seen = new Set([globalThis]);
  const waiting = [];
  function reach(value) {
    if ((typeof value === "object" && value !== null) || typeof value === "function") {
      if (!seen.has(value)) {
        seen.add(value);
        waiting.push(value);
      }
    }
  }
  // What no global name leads to.
  for (const hidden of [
    Object.getPrototypeOf(globalThis), function* () {}, async function () {}, async function* () {}, (function* () {})(),
    (async function* () {})(), [][Symbol.iterator](), new Map()[Symbol.iterator](), new Set()[Symbol.iterator](),
    ""[Symbol.iterator](), "".matchAll(/x/g), Iterator.from({ next() {} }), [].values().map((x) => x),
    (function () { "use strict"; return Object.getOwnPropertyDescriptor(arguments, "callee").get; })(),
    Object.getPrototypeOf(new Intl.Segmenter().segment("a")), new Intl.Segmenter().segment("a")[Symbol.iterator](),
    new Error("for the two functions behind every error's stack"),
  ]) {
    reach(hidden);
  }
  for (const key of Reflect.ownKeys(globalThis)) reach(globalThis[key]);
  if (Array.fromAsync) watched(Array, "fromAsync");
  watched(Object.getPrototypeOf(function* () {}), "constructor");

  while (waiting.length) {
    const object = waiting.pop();
    reach(Object.getPrototypeOf(object));
    for (const key of Reflect.ownKeys(object)) {
      const descriptor = Reflect.getOwnPropertyDescriptor(object, key);
      reach(descriptor.value);
      reach(descriptor.get);
      reach(descriptor.set);
      const ofArray = object === Array.prototype && !HOT_OF_ARRAY.has(key);
      const assigned = open.has(object) || ASSIGNED.has(key) || ofArray;
      if (assigned && descriptor.writable && descriptor.configurable) {
        repair(object, key, descriptor);
        const both = Reflect.getOwnPropertyDescriptor(object, key);
        reach(both.get);
        reach(both.set);
      }
    }
    Object.freeze(object);
  }
  for (const key of Reflect.ownKeys(globalThis)) {
    if (WATCHED.has(key)) watched(globalThis, key);
    const descriptor = Reflect.getOwnPropertyDescriptor(globalThis, key);
    Reflect.defineProperty(globalThis, key, "value" in descriptor ? { writable: false, configurable: false } : { configurable: false });
  }
})
