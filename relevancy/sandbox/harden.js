/* Run once in a new context, before any script: removes what a scorer does not need and what no memory limit covers, and
   freezes everything else. A frozen `Object.prototype.toString` would make `o.toString = …` fail on every object that
   inherits it; properties that scripts do assign become accessors, whose setter defines the property on the object
   itself. `expectPromises` is called when a query accesses something that creates promises or compiles code: its promises
   are then settled before the next query starts. */
(function (expectPromises) {
  "use strict";
  const REMOVED = [
    "WebAssembly", "SharedArrayBuffer", "Atomics", "ArrayBuffer", "DataView", "setTimeout", "clearTimeout",
    "WeakRef", "FinalizationRegistry", "console",
  ];
  const REMOVED_PATTERN = /^(Big)?(Int|Uint|Float)\d+(Clamped)?Array$/;
  const ASSIGNABLE = new Set(["toString", "valueOf", "toJSON", "toLocaleString"]);
  // Scripts assign properties of such names to arrays. Those used in every loop stay plain, because accessors are slower.
  const PLAIN_OF_ARRAY = new Set(["constructor", "length", "push", "map", "forEach", "filter", "reduce", "slice", "join", Symbol.iterator]);
  const WATCHED_GLOBALS = new Set(["Promise", "Function", "eval", "AsyncDisposableStack"]); // harness.js finds `async` and `import` in the text
  const KEPT_OF_REGEXP = new Set(["length", "name", "prototype", "escape", Symbol.species]);

  for (const name of Reflect.ownKeys(globalThis)) {
    const isRemoved = REMOVED.includes(name) || (typeof name === "string" && REMOVED_PATTERN.test(name));
    if (isRemoved && !Reflect.deleteProperty(globalThis, name)) globalThis[name] = undefined;
  }
  // RegExp.$1 and similar properties would tell one query what another one matched.
  for (const name of Reflect.ownKeys(RegExp)) if (!KEPT_OF_REGEXP.has(name)) delete RegExp[name];
  Error.stackTraceLimit = 20;

  const errors = [
    Error, AggregateError, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError, globalThis.SuppressedError,
  ];
  const assignablePrototypes = new Set([Object.prototype, Function.prototype]);
  for (const error of errors) if (error) assignablePrototypes.add(error.prototype);

  function makeAssignable(object, key, descriptor) {
    const value = descriptor.value;
    const compilesCode = object === Function.prototype && key === "constructor";
    Reflect.defineProperty(object, key, {
      configurable: false,
      enumerable: descriptor.enumerable,
      get() {
        if (compilesCode) expectPromises();
        return value;
      },
      set(assigned) {
        if (this === object) throw new TypeError(String(key) + " of a built-in object cannot be changed");
        Reflect.defineProperty(this, key, { value: assigned, writable: true, enumerable: true, configurable: true });
      },
    });
  }

  function watch(object, key) {
    const value = object[key];
    const get = () => { // an arrow function, which has no `prototype` that would have to be frozen
      expectPromises();
      return value;
    };
    Reflect.defineProperty(object, key, { get, set: undefined, enumerable: false, configurable: false });
    Object.freeze(get);
  }

  const visited = new Set([globalThis]);
  const pending = [];
  function visit(value) {
    if ((typeof value === "object" && value !== null) || typeof value === "function") {
      if (!visited.has(value)) {
        visited.add(value);
        pending.push(value);
      }
    }
  }
  // Objects that cannot be reached from a global name.
  for (const hidden of [
    Object.getPrototypeOf(globalThis), function* () {}, async function () {}, async function* () {}, (function* () {})(),
    (async function* () {})(), [][Symbol.iterator](), new Map()[Symbol.iterator](), new Set()[Symbol.iterator](),
    ""[Symbol.iterator](), "".matchAll(/x/g), Iterator.from({ next() {} }), [].values().map((x) => x),
    (function () { "use strict"; return Object.getOwnPropertyDescriptor(arguments, "callee").get; })(),
    Object.getPrototypeOf(new Intl.Segmenter().segment("a")), new Intl.Segmenter().segment("a")[Symbol.iterator](),
    new Error("for the two functions behind the stack of every error"),
  ]) {
    visit(hidden);
  }
  for (const key of Reflect.ownKeys(globalThis)) visit(globalThis[key]);
  if (Array.fromAsync) watch(Array, "fromAsync");
  watch(Object.getPrototypeOf(function* () {}), "constructor");

  while (pending.length) {
    const object = pending.pop();
    visit(Object.getPrototypeOf(object));
    for (const key of Reflect.ownKeys(object)) {
      const descriptor = Reflect.getOwnPropertyDescriptor(object, key);
      visit(descriptor.value);
      visit(descriptor.get);
      visit(descriptor.set);
      const isAssignableOfArray = object === Array.prototype && !PLAIN_OF_ARRAY.has(key);
      const isAssignable = assignablePrototypes.has(object) || ASSIGNABLE.has(key) || isAssignableOfArray;
      if (isAssignable && descriptor.writable && descriptor.configurable) {
        makeAssignable(object, key, descriptor);
        const accessors = Reflect.getOwnPropertyDescriptor(object, key);
        visit(accessors.get);
        visit(accessors.set);
      }
    }
    Object.freeze(object);
  }
  for (const key of Reflect.ownKeys(globalThis)) {
    if (WATCHED_GLOBALS.has(key)) watch(globalThis, key);
    const descriptor = Reflect.getOwnPropertyDescriptor(globalThis, key);
    Reflect.defineProperty(globalThis, key, "value" in descriptor ? { writable: false, configurable: false } : { configurable: false });
  }
})
