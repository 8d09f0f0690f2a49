"""What a script does for one query cannot affect another query, another script, or the harness."""

import pytest

from relevancy.sandbox import Limits

from .script_queries import SHORT, build_query, run, run_one

# The good queries use much of the language, so that a change to any part of it would be noticed.
GOOD = """
  if (typeof planted !== 'undefined' || ({}).planted || [].planted || Math.planted || (() => 1).planted) setScore(1);
  let sum = 0;
  eachDoc((doc, i) => { sum += docRating(i) || 0; });
  const all = [1, 2, 3].map(x => x * 2).concat([4]).filter(x => x > 2);
  const text = JSON.parse(JSON.stringify({ a: all.join('-') })).a.replace(/4/g, '5').split('-').length;
  const rest = Math.log2(8) + Math.max(1, 2) + parseInt('7') + Number('1') + Object.keys({ a: 1 }).length + [...new Set([1, 1])].length;
  const words = String(new Date(0).getTime()) + new Map([[1, 2]]).get(1) + topRatings(1)[0] + avgRating(1);
  setScore(sum + text + rest + Number(words) / 1000 + (Date.now() > 1e12 ? 10 : 0) + (isNaN(NaN) ? 1 : 0) + max);
"""
POLLUTION = [
    "Object.prototype.planted = 1",
    "Object.defineProperty(Object.prototype, 'planted', { value: 1 })",
    "Array.prototype.map = function () { return [9, 9] }",
    "Array.prototype.push = () => 0; Array.prototype.join = () => 'x'; Array.prototype.slice = () => []",
    "Object.defineProperty(Array.prototype, 0, { set() {} })",
    "Array.prototype[Symbol.iterator] = function* () {}",
    "[][Symbol.iterator]().__proto__.next = () => ({ done: true })",
    "JSON.stringify = () => '[[100,\"\",null,[],0]]'; JSON.parse = () => []",
    "Math.log2 = () => 0; Math.max = () => 77; Math.min = () => 0",
    "Date.now = () => 0; Date.prototype.getTime = () => 5",
    "globalThis.planted = 5; planted = 5; var x = 1",
    "globalThis.Math = {}; globalThis.JSON = null; globalThis.Object = null; globalThis.Reflect = null; isNaN = null",
    "(0, eval)('var planted = 5; function more() {}')",
    "Object.defineProperty(globalThis, 'planted', { value: 5 })",
    "Object.defineProperty(globalThis, 'planted', { get() { while (1); } })",
    "Object.freeze(globalThis)",
    "Object.preventExtensions(globalThis)",
    "Object.setPrototypeOf(globalThis, { planted: 5 })",
    "Object.setPrototypeOf(Math, { planted: 1 }); Object.setPrototypeOf(Function.prototype, { planted: 1 })",
    "({}).__proto__.planted = 1; [].__proto__.planted = 1; (() => 1).__proto__.planted = 1",
    "docAt.constructor.prototype.planted = 1; bestDocs[0].constructor.prototype.getRating = () => 9; "
    "bestDocs.constructor.prototype.sort = () => []",
    "Function.prototype.call = Function.prototype.apply = () => 9; Reflect.apply = () => 9",
    "Error.prepareStackTrace = () => { throw 1 }; Error.captureStackTrace = null; Error.stackTraceLimit = 0",
    "Promise.prototype.then = () => 1; Promise.resolve = () => 1",
    "Set.prototype.has = () => true; Map.prototype.get = null; RegExp.prototype.exec = null; String.prototype.split = () => []",
    "docs.length = 0; bestDocs.length = 0; scale.length = 0; docAt.planted = 1; console.planted = 1; query.planted = 1",
    "setScore = null; avgRating = null; docRating = () => 100; max = 1000; k = 0; docs = null",
    "globalThis[Symbol.for('planted')] = 1; globalThis[Symbol.toStringTag] = 'x'",
    "Symbol.prototype.description = 1; Symbol.iterator = 1; Number.prototype.toString = () => '1'; Object.keys = () => []",
    "constructor.constructor('return this')().planted = 4; Function('planted = 4')()",
    "(function* () {}).constructor('planted = 4')().next(); (async () => {}).constructor('planted = 4')()",
]


@pytest.mark.parametrize("evil", POLLUTION, ids=range(len(POLLUTION)))
def test_pollution_does_not_reach_the_next_query(evil: str) -> None:
    script = f"if (query.text === 'evil') {{ try {{ {evil} }} catch (e) {{}} ; setScore(0) }} else {{ {GOOD} }}"
    good, bad = build_query((3, None, 1), (2,), "good"), build_query((3, None, 1), (2,), "evil")
    unaffected = run(script, [good])[0]
    assert unaffected.error == ""
    assert unaffected.score is not None
    assert unaffected.score > 20
    outcomes = run(script, [good, bad, good, bad, bad, good], limits=SHORT)
    assert [outcomes[index].score for index in (0, 2, 5)] == [unaffected.score] * 3, outcomes
    assert run(GOOD, [good])[0].score == unaffected.score


def test_pollution_from_a_promise_does_not_reach_the_next_query() -> None:
    script = "refreshRatedDocs().then(() => { setScore(typeof planted === 'undefined' ? 10 : 20); planted = 1; eval('var q = 1') })"
    assert {outcome.score for outcome in run(script, [build_query((1,))] * 5)} == {10}


SPY = "setScore(typeof planted === 'undefined' && !docAt.planted ? 50 : 99)"
LATER = "function () { setScore(typeof planted === 'undefined' ? 50 : 99) }"
GETTER = "get message() { planted = 1; (async () => { await 0; await 0; planted = 1 })(); return 'm' }"
CHANNELS = [
    # Code of the script that runs while its error is described.
    (f"refreshRatedDocs().then(() => {{ throw {{ __proto__: Error.prototype, {GETTER} }} }})", SPY),
    (f"throw {{ __proto__: Error.prototype, {GETTER} }}", SPY),
    (f"throw {{ {GETTER} }}", SPY),
    # The two functions behind the `stack` of every error.
    (
        "Object.getOwnPropertyDescriptor(new Error, 'stack').get.planted = 1",
        "setScore(Object.getOwnPropertyDescriptor(new Error, 'stack').get.planted ? 99 : 50)",
    ),
    ("(function (x) { x.planted = 1; x.raw.planted = 1 })`a`", "setScore((x => x.planted || x.raw.planted ? 99 : 50)`a`)"),
    # Promises that the text does not reveal and that are still running when the next query starts.
    ("setScore(1); var p = this['Pro' + 'mise'], n = 0; (function f() { planted = 1; n++ < 500 && p.resolve()['th' + 'en'](f) })()",
     f"this['Pro' + 'mise'].resolve()['th' + 'en']({LATER})"),
    ("setScore(1); var p = Array['fromA' + 'sync']([]), n = 0; (function f() { planted = 1; n++ < 500 && p['th' + 'en'](f) })()",
     f"Array['fromA' + 'sync']([])['th' + 'en']({LATER})"),
    *((f"setScore(1); {way}('as' + 'ync function f() {{ for (var i = 0; i < 500; i++) {{ planted = 1; await 0 }} }}; f()'){call}",
       f"this['Pro' + 'mise'].resolve()['th' + 'en']({LATER})")
      for way, call in (("docAt['const' + 'ructor']", "()"), ("(0, this['ev' + 'al'])", ""),
                        ("(function* () {}).__proto__['const' + 'ructor']", "().next()"))),
]  # fmt: skip


@pytest.mark.parametrize(("evil", "observer"), CHANNELS, ids=range(len(CHANNELS)))
def test_no_channel_leads_to_the_next_query(evil: str, observer: str) -> None:
    script = f"if (query.text === 'evil') {{ {evil} }} else {{ {observer} }}"
    queries = [build_query((3,), text=text) for text in ("evil", "good", "evil", "evil", "good", "good")]
    outcomes = run(script, queries, limits=SHORT)
    assert [outcomes[index].score for index in (1, 4, 5)] == [50] * 3, outcomes


def test_a_script_cannot_change_the_results_of_other_queries() -> None:
    script = """
      if (query.text === 'spy') {
        kept = { setScore, docs };
        (function f() { try { f.caller.caller.arguments[0].length = 0 } catch (e) {} })();
        try { arguments.callee.caller.arguments } catch (e) {}
        setScore(1);
      } else {
        setScore(typeof kept === 'undefined' ? 50 : 99);
      }"""
    outcomes = run(
        script, [build_query((1,), text="spy"), build_query((1,)), build_query((1,), text="spy"), build_query((1,))]
    )
    assert [outcome.score for outcome in outcomes] == [1, 50, 1, 50]


def test_a_late_promise_cannot_change_the_score() -> None:
    script = "setScore(5); refreshRatedDocs().then(() => setScore(90))"
    assert [outcome.score for outcome in run(script, [build_query((1,))] * 3)] == [5, 5, 5]


UNAVAILABLE = [
    *(
        "require",
        "process",
        "fetch",
        "XMLHttpRequest",
        "WebSocket",
        "Deno",
        "Bun",
        "importScripts",
        "WebAssembly",
        "Worker",
    ),
    *(
        "SharedArrayBuffer",
        "Atomics",
        "ArrayBuffer",
        "DataView",
        "Uint8Array",
        "Float64Array",
        "BigInt64Array",
        "Float16Array",
    ),
    *(
        "setTimeout",
        "setInterval",
        "clearTimeout",
        "queueMicrotask",
        "WeakRef",
        "FinalizationRegistry",
        "python",
        "__import__",
    ),
    *(
        "__TimerManager",
        "__timer_manager",
        "load",
        "read",
        "readFile",
        "print",
        "d8",
        "os",
        "std",
        "window",
        "document",
        "quit",
    ),
]


@pytest.mark.parametrize("name", UNAVAILABLE)
def test_name_is_unavailable(name: str) -> None:
    script = f"setScore(typeof {name} === 'undefined' && (0, eval)('typeof {name}') === 'undefined' ? 1 : 2)"
    assert run_one(script).score == 1


def test_import_is_refused() -> None:
    outcome = run_one("import('/etc/passwd').then(() => setScore(100), () => setScore(3))")
    assert outcome.score != 100
    assert run_one("import('os').then(m => setScore(100))").score is None


def test_everything_that_can_be_reached_is_frozen() -> None:
    """Visits everything that a script can reach: all of it is frozen, and there are no buffers and no timers."""
    script = r"""
      const seen = new Set(), open = [], bad = [], waiting = [];
      const reach = (x, how) => {
        if ((typeof x === 'object' && x !== null || typeof x === 'function') && !seen.has(x)) { seen.add(x); waiting.push([x, how]) }
      };
      seen.add(globalThis);
      for (const key of Reflect.ownKeys(globalThis)) reach(globalThis[key], String(key));
      const hidden = [function* () {}, async () => {}, async function* () {}, (function* () {}).prototype,
        (async function* () {}).prototype, [].values(),
        new Map().keys(), new Set().keys(), ''[Symbol.iterator](), ''.matchAll(/x/g), [].values().map(x => x),
        Iterator.from({ next() {} }), new Intl.Segmenter().segment('a'), new Intl.Segmenter().segment('a')[Symbol.iterator](),
        Object.getPrototypeOf(globalThis), bestDocs[0], new Intl.NumberFormat(), new Intl.NumberFormat().format, new Intl.Collator(),
        new Intl.Collator().compare, Promise.withResolvers(), Proxy.revocable({}, {})];
      for (const each of hidden) reach(Object.getPrototypeOf(each), 'hidden');
      for (const owner of [globalThis, new Error(), (() => { try { null.x } catch (e) { return e } })()]) {
        for (const d of Object.values(Object.getOwnPropertyDescriptors(owner))) { reach(d.get, 'get'); reach(d.set, 'set') }
      }
      while (waiting.length) {
        const [x, how] = waiting.pop();
        if (!Object.isFrozen(x)) open.push(how);
        if (typeof x === 'function' && /Buffer|\d+(Clamped)?Array|Timer|WeakRef|DataView/.test(x.name)) bad.push(how);
        reach(Object.getPrototypeOf(x), how + '.__proto__');
        for (const key of Reflect.ownKeys(x)) {
          const d = Reflect.getOwnPropertyDescriptor(x, key);
          for (const part of ['value', 'get', 'set']) reach(d[part], how + '.' + String(key));
        }
      }
      console.log(open.join(), bad.join());
      setScore(seen.size > 800 ? 1 : 2)"""
    outcome = run_one(script, console=True, limits=Limits(seconds_per_query=5))
    assert (outcome.console, outcome.score) == ((" ",), 1), outcome
