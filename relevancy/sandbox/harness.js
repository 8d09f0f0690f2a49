/* Runs a scorer script over queries, or a mapper script over responses. Evaluates to a function that creates the one command that the child process holds:
   no script can reach it, its results or another query. `api`: see api.js. */
(function (api) {
  "use strict";
  const SOURCE_NAME = "scorer-script.js";
  const LINES_BEFORE_SCRIPT = 3;
  const STACK_LINE = /^\s+at .*scorer-script\.js:(\d+):\d+\)?$/m;
  // Promises that the text does not reveal are reported by harden.js.
  const USES_PROMISES = /async|Promise|refreshRatedDocs|\bthen\b\s*\(|\bimport\b/;
  const NO_SCORE = "The script ended without calling setScore(…)";
  const MAX_ERROR_LENGTH = 500;
  const MAX_STACK_LENGTH = 100000;
  const MAX_CONSOLE_PER_SLICE = 1000000;
  const MAX_DOCUMENTS = 1000;
  const MAX_MAPPED_LENGTH = 4000000;
  // What a mapper script defines, however it does: by `var`, `const`, a function, or an assignment without any of them.
  const MAPPER_END = `;return [
    typeof docsMapper === "undefined" ? undefined : docsMapper,
    typeof numberOfResultsMapper === "undefined" ? undefined : numberOfResultsMapper,
  ];`;
  const now = Date.now;
  const globals = globalThis;

  let settings = null;
  let source = "";
  let createScript = null;
  let isIsolated = false; // whether promises are settled after every query
  let expectsPromises = false; // the same for the current query alone
  let isRunning = false; // whether a query is running that has no outcome yet
  let queries = [];
  let states = [];
  let next = 0;
  let reported = 0;
  let consoleCharacters = 0;
  let knownGlobals = null;
  let isTainted = false;

  /* In sloppy mode `Array.prototype.sum = …` fails silently; only the later call reveals it. */
  function addHint(message) {
    const missing = /(?:^|\.)(\w+) is not a function$/.exec(message);
    const assignment = missing && new RegExp("\\b[A-Z]\\w+(?:\\.prototype)?\\s*\\.\\s*" + missing[1] + "\\s*=[^=]");
    const builtin = assignment && assignment.exec(source);
    if (!builtin || !Object.hasOwn(globals, /^\w+/.exec(builtin[0])[0])) return message;
    return message + ". Functions cannot be added to built-in objects. Write a separate function";
  }

  /* A thrown value in words, and its line. May run code of the script (getters), within the time of the query. */
  function describeThrown(thrown) {
    try {
      if (!(thrown instanceof Error)) {
        const message = typeof thrown === "object" && thrown !== null ? thrown.message : null;
        const detail = typeof message === "string" ? ": " + api.truncate(message, MAX_ERROR_LENGTH) : "";
        return { text: "The script threw " + api.describe(thrown) + detail, line: null };
      }
      const stack = thrown.stack;
      const match = typeof stack === "string" && stack.length < MAX_STACK_LENGTH ? STACK_LINE.exec(stack) : null;
      const line = match ? Number(match[1]) - LINES_BEFORE_SCRIPT : null;
      const message = thrown.message;
      const text = typeof message === "string" && message
        ? addHint(api.truncate(message, MAX_ERROR_LENGTH))
        : "The script threw an error without a message";
      return { text: line > 0 ? "Line " + line + ": " + text : text, line: line > 0 ? line : null };
    } catch (_) {
      return { text: "The script threw a value that cannot be read", line: null };
    }
  }

  function handleThrown(state, thrown) {
    const { text, line } = describeThrown(thrown);
    if (state.isDecided) {
      state.write("error", text);
      return;
    }
    state.isDecided = true;
    state.error = text;
    state.line = line;
  }

  /* Removes the globals that a query created. If that is not possible, the context has to be replaced. */
  function removeNewGlobals() {
    const keys = Reflect.ownKeys(globals);
    if (keys.length !== knownGlobals.size) {
      for (let i = 0; i < keys.length; i += 1) {
        if (!knownGlobals.has(keys[i]) && !Reflect.deleteProperty(globals, keys[i])) isTainted = true;
      }
    }
    if (!Object.isExtensible(globals) || Object.getPrototypeOf(globals) !== knownGlobals.parent) isTainted = true;
  }

  function runScript(query, state) {
    const values = api.createValues(query, state, settings);
    Reflect.apply(Reflect.apply(createScript, undefined, values), undefined, []);
  }

  /* Calls the functions of a mapper script. The result is JSON: {documents, total}. */
  function runMapper(response, state) {
    const create = Reflect.apply(createScript, undefined, [api.createConsole(state, settings)]);
    const functions = Reflect.apply(create, undefined, []) || [];
    if (typeof functions[0] !== "function") {
      throw new TypeError("The script does not define the function docsMapper");
    }
    let data = response;
    try {
      data = JSON.parse(response);
    } catch (_) {
      // not JSON: the mapper gets the text
    }
    let total = null;
    if (functions[1] !== undefined) {
      if (typeof functions[1] !== "function") throw new TypeError("numberOfResultsMapper is not a function");
      total = Reflect.apply(functions[1], undefined, [data]);
      if (total !== null && total !== undefined && typeof total !== "number") {
        throw new TypeError("numberOfResultsMapper returned " + api.describe(total) + ", not a number");
      }
    }
    const found = Reflect.apply(functions[0], undefined, [data]);
    if (!Array.isArray(found)) throw new TypeError("docsMapper returned " + api.describe(found) + ", not an array");
    const documents = [];
    for (let i = 0; i < found.length && i < MAX_DOCUMENTS; i += 1) documents.push(found[i]);
    const mapped = JSON.stringify({ documents, total });
    if (mapped.length > MAX_MAPPED_LENGTH) {
      throw new RangeError("docsMapper returned documents of " + mapped.length + " characters; at most " + MAX_MAPPED_LENGTH + " are allowed");
    }
    state.score = mapped;
    state.isDecided = true;
  }

  const commands = {
    open(script, settingsText) {
      settings = JSON.parse(settingsText);
      source = script;
      isIsolated = USES_PROMISES.test(script);
      try {
        new Function(script); // by itself: here braces that would close our function are a syntax error
        const end = settings.isMapper ? MAPPER_END : "";
        const body = "return function () {\n" + script + "\n" + end + "}\n//# sourceURL=" + SOURCE_NAME;
        createScript = new Function(...(settings.isMapper ? ["console"] : api.NAMES), body);
      } catch (thrown) {
        return "error " + api.truncate(String(thrown.message), MAX_ERROR_LENGTH);
      }
      knownGlobals = new Set(Reflect.ownKeys(globals));
      knownGlobals.parent = Object.getPrototypeOf(globals);
      return isIsolated ? "isolated" : "ok";
    },
    load(text) {
      queries = JSON.parse(text);
      states = [];
      next = reported = consoleCharacters = 0;
    },
    /* Scores queries for `seconds`; stops earlier where promises have to be settled or the context is tainted. */
    run(seconds) {
      const sliceStart = now();
      while (next < queries.length) {
        const start = now();
        const state = api.createState(settings, describeThrown);
        states[next] = state;
        expectsPromises = false;
        isRunning = true;
        try {
          (settings.isMapper ? runMapper : runScript)(queries[next], state);
        } catch (thrown) {
          handleThrown(state, thrown);
        }
        removeNewGlobals();
        const end = now();
        state.seconds = (end - start) / 1000;
        queries[next] = null;
        next += 1;
        isRunning = false;
        consoleCharacters += state.written;
        if (!state.isDecided || isIsolated || expectsPromises || isTainted) break;
        if (consoleCharacters > MAX_CONSOLE_PER_SLICE || end - sliceStart >= seconds * 1000) break;
      }
    },
    /* The outcomes of the queries since the last call, as "count isTainted isLastSuspect\nJSON". Called after promises
       are settled. Runs no code of the script, after which nothing would be cleaned up. `isLastSuspect`: if something
       was just stopped, it was the last of these queries, by its promises or at its very end. */
    finish() {
      if (knownGlobals) removeNewGlobals();
      const rows = [];
      for (; reported < next; reported += 1) {
        const state = states[reported];
        states[reported] = null;
        if (!state.isDecided) {
          state.isDecided = true;
          const noScore = isIsolated ? NO_SCORE + ". Errors in async functions are not reported: catch them" : NO_SCORE;
          state.error = state.lostError ? state.lostError.text : noScore;
          state.line = state.lostError ? state.lostError.line : null;
        } else if (state.seconds > settings.seconds) {
          state.score = null;
          state.error = "late";
          state.line = null;
        }
        rows.push([state.score, state.error, state.line, state.lines, state.seconds]);
      }
      consoleCharacters = 0;
      const last = rows.length ? rows[rows.length - 1] : null;
      const isLastSuspect = last && !isRunning && (isIsolated || expectsPromises || last[1] === "late");
      return rows.length + " " + (isTainted ? 1 : 0) + " " + (isLastSuspect ? 1 : 0) + "\n" + JSON.stringify(rows);
    },
  };
  commands.expectPromises = function () {
    expectsPromises = true;
  };
  return function (name, first, second) {
    return commands[name](first, second);
  };
})
