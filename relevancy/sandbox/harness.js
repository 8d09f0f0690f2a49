/* Runs a scorer over queries. Evaluates to one function that only the child process holds: no script can reach it, the
   results or another query. `api(query, state, settings)` (api.js) makes what one query's script may call. */
(function (api) {
  "use strict";
  const SOURCE = "scorer-script.js";
  const BEFORE = 3; // lines that stand above the script's first one
  const WHERE = /^\s+at .*scorer-script\.js:(\d+):\d+\)?$/m;
  const WAITS = /async|Promise|refreshRatedDocs|\bthen\b\s*\(|\bimport\b/; // what the text does not tell, harden.js does
  const UNSEEN = "The script ended without calling setScore(…)";
  const LONGEST_ERROR = 500;
  const now = Date.now;
  const globals = globalThis;

  let settings = null;
  let source = "";
  let factory = null;
  let alone = false; // whether no two queries run without their promises being settled between them
  let waits = false; // the same for the query at hand
  let inside = false; // whether a query runs that is not among the outcomes yet
  let queries = [];
  let states = [];
  let cursor = 0;
  let reported = 0;
  let written = 0;
  let known = null;
  let tainted = false;

  /* A sloppy script's `Array.prototype.sum = …` fails without a word; only the call that then fails tells. */
  function hinted(said) {
    const missing = /(?:^|\.)(\w+) is not a function$/.exec(said);
    const set = missing && new RegExp("\\b[A-Z]\\w+(?:\\.prototype)?\\s*\\.\\s*" + missing[1] + "\\s*=[^=]");
    const builtin = set && set.exec(source);
    if (!builtin || !Object.hasOwn(globals, /^\w+/.exec(builtin[0])[0])) return said;
    return said + ". Built-in objects cannot be given new functions: write a function of your own";
  }

  /* A thrown value in words, and its line. May run the script's code (getters): inside the query's time. */
  function told(thrown) {
    try {
      if (!(thrown instanceof Error)) {
        const own = typeof thrown === "object" && thrown !== null ? thrown.message : null;
        const words = typeof own === "string" ? ": " + api.cut(own, LONGEST_ERROR) : "";
        return { text: "The script threw " + api.named(thrown) + words, line: null };
      }
      const stack = thrown.stack;
      const found = typeof stack === "string" && stack.length < 100000 ? WHERE.exec(stack) : null;
      const line = found ? Number(found[1]) - BEFORE : null;
      const said = thrown.message;
      const text = typeof said === "string" && said ? hinted(api.cut(said, LONGEST_ERROR)) : "The script threw an error without a message";
      return { text: line > 0 ? "Line " + line + ": " + text : text, line: line > 0 ? line : null };
    } catch (_) {
      return { text: "The script threw something that cannot be read", line: null };
    }
  }

  function failed(state, thrown) {
    const { text, line } = told(thrown);
    if (state.decided) {
      state.write("error", text);
      return;
    }
    state.decided = true;
    state.error = text;
    state.line = line;
  }

  /* Takes away the globals a query left; what cannot be taken away means a new context. */
  function sweep() {
    const keys = Reflect.ownKeys(globals);
    if (keys.length !== known.size) {
      for (let i = 0; i < keys.length; i += 1) {
        if (!known.has(keys[i]) && !Reflect.deleteProperty(globals, keys[i])) tainted = true;
      }
    }
    if (!Object.isExtensible(globals) || Object.getPrototypeOf(globals) !== known.parent) tainted = true;
  }

  function attempt(query, state) {
    const values = api.of(query, state, settings);
    Reflect.apply(Reflect.apply(factory, undefined, values), undefined, []);
  }

  const commands = {
    open(script, text) {
      settings = JSON.parse(text);
      source = script;
      alone = WAITS.test(script);
      try {
        new Function(script); // alone: braces that close our function are a syntax error here
        factory = new Function(...api.NAMES, "return function () {\n" + script + "\n}\n//# sourceURL=" + SOURCE);
      } catch (thrown) {
        return "error " + api.cut(String(thrown.message), LONGEST_ERROR);
      }
      known = new Set(Reflect.ownKeys(globals));
      known.parent = Object.getPrototypeOf(globals);
      return alone ? "alone" : "ok";
    },
    load(text) {
      queries = JSON.parse(text);
      states = [];
      cursor = reported = written = 0;
    },
    /* Scores queries until `seconds` are over; stops where promises must be drained or the context is spoilt. */
    run(seconds) {
      const began = now();
      while (cursor < queries.length) {
        const start = now();
        const state = api.state(settings, told);
        states[cursor] = state;
        waits = false;
        inside = true;
        try {
          attempt(queries[cursor], state);
        } catch (thrown) {
          failed(state, thrown);
        }
        sweep();
        const end = now();
        state.seconds = (end - start) / 1000;
        queries[cursor] = null;
        cursor += 1;
        inside = false;
        written += state.written;
        if (!state.decided || alone || waits || tainted || written > 1000000 || end - began >= seconds * 1000) break;
      }
    },
    /* The outcomes of the queries run since the last call, as "count tainted suspect\nJSON". Called after promises are
       drained. Runs nothing of the script: nobody would sweep up after it. `suspect`: had something just been stopped,
       it was the last one of these, by its promises or at its very end. */
    finish() {
      if (known) sweep();
      const rows = [];
      for (; reported < cursor; reported += 1) {
        const state = states[reported];
        states[reported] = null;
        if (!state.decided) {
          state.decided = true;
          state.error = state.lost ? state.lost.text : alone ? UNSEEN + ". Errors in async functions are not seen: catch them" : UNSEEN;
          state.line = state.lost ? state.lost.line : null;
        } else if (state.seconds > settings.seconds) {
          state.score = null;
          state.error = "late";
          state.line = null;
        }
        rows.push([state.score, state.error, state.line, state.lines, state.seconds]);
      }
      written = 0;
      const last = rows.length ? rows[rows.length - 1] : null;
      const suspect = last && !inside && (alone || waits || last[1] === "late");
      return rows.length + " " + (tainted ? 1 : 0) + " " + (suspect ? 1 : 0) + "\n" + JSON.stringify(rows);
    },
  };
  commands.awaits = function () {
    waits = true;
  };
  return function (name, first, second) {
    return commands[name](first, second);
  };
})
