/* What a scorer script can call, created for every query. Evaluates to
   `{NAMES, createValues, createState, createConsole, describe, truncate}`. */
(function () {
  "use strict";
  const NAMES = [
    "docs", "bestDocs", "docAt", "docExistsAt", "hasDocRating", "docRating", "ratedDocAt", "ratedDocExistsAt", "eachDoc",
    "eachRatedDoc", "eachDocWithRating", "eachDocWithRatingEqualTo", "topRatings", "numFound", "numReturned", "avgRating",
    "avgRating100", "baseAvg", "baseAvgRounded", "editDistanceFromBest", "qOption", "setScore", "pass", "fail", "assert",
    "assertOrScore", "refreshRatedDocs", "k", "max", "total", "options", "query", "scale", "console",
  ];
  const MAX_TEXT_LENGTH = 1000000; // truncating a longer one would copy it first
  const MAX_CONSOLE_LINES = 1000;
  const FLOOR_TOLERANCE = 1e-9; // 100 · mean / max is often a whole number that floating point misses from below
  const originalThen = Promise.prototype.then;

  function truncate(text, limit) {
    if (text.length <= limit) return text;
    if (text.length > MAX_TEXT_LENGTH) return "(a text of " + text.length + " characters)";
    return text.slice(0, limit) + "…";
  }

  /* A value in an error message, without running any code of the script. */
  function describe(value) {
    if (typeof value === "string") return "the text " + JSON.stringify(truncate(value, 200));
    if (typeof value === "bigint") return "a BigInt";
    if (typeof value === "symbol") return "a symbol";
    if (typeof value === "function") return "a function";
    if (typeof value === "object" && value !== null) return Array.isArray(value) ? "an array" : "an object";
    return String(value);
  }

  /* A value on the console, objects as JSON. May run code of the script. */
  function formatForConsole(value, limit) {
    if (typeof value === "string") return truncate(value, limit);
    if (typeof value === "function") return "function " + truncate(String(value.name), 100);
    if (typeof value === "symbol" || typeof value !== "object" || value === null) return truncate(String(value), limit);
    try {
      if (value instanceof Error) return truncate(value.name + ": " + value.message, limit);
      return truncate(JSON.stringify(value) ?? "undefined", limit);
    } catch (_) {
      return "(an object that cannot be displayed)";
    }
  }

  class BestDoc {
    constructor(id, rating) {
      this.id = id;
      this.rating = rating;
    }
    getRating() {
      return this.rating;
    }
  }
  Object.freeze(BestDoc.prototype.getRating);
  Object.freeze(BestDoc.prototype);
  Object.freeze(BestDoc);

  function compareByGradeThenId(a, b) {
    return b.rating - a.rating || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
  }

  function levenshtein(a, b) {
    let above = [];
    for (let j = 0; j <= b.length; j += 1) above.push(j);
    for (let i = 1; i <= a.length; i += 1) {
      const row = [i];
      for (let j = 1; j <= b.length; j += 1) {
        const cost = a[i - 1] === b[j - 1] ? 0 : 1;
        row.push(Math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + cost));
      }
      above = row;
    }
    return above[b.length];
  }

  /* The result of one query while it runs. `describeThrown` puts a thrown value into words; it may run code of the
     script. `lostError` is an error of a promise, which would not be seen otherwise. */
  function createState(settings, describeThrown) {
    const state = {
      isDecided: false, score: null, error: "", line: null, seconds: 0, lostError: null,
      lines: [], written: 0, isConsoleFull: false,
    };
    state.keepLostError = function (thrown) {
      state.lostError ??= describeThrown(thrown);
    };
    state.write = function (level, text) {
      if (!settings.console || state.isConsoleFull) return;
      const space = settings.console - state.written;
      const line = level ? level + ": " + text : text;
      state.lines.push(line.length > space ? line.slice(0, space) : line);
      state.written += Math.min(line.length, space) + 1;
      const isFull = state.written >= settings.console || state.lines.length >= MAX_CONSOLE_LINES;
      if (line.length > space || isFull) {
        state.isConsoleFull = true;
        state.lines.push("… (the console is full; further output is discarded)");
      }
    };
    return state;
  }

  function createConsole(state, settings) {
    function createWriter(level) {
      return function (...values) {
        if (!settings.console || state.isConsoleFull) return;
        const parts = [];
        for (let i = 0; i < values.length && i < 100; i += 1) parts.push(formatForConsole(values[i], settings.console + 1));
        state.write(level, parts.join(" "));
      };
    }
    const log = createWriter("");
    const ignore = function () {};
    return {
      log, info: log, debug: log, dir: log, table: log, trace: log, group: log, warn: createWriter("warning"),
      error: createWriter("error"), groupEnd: ignore, time: ignore, timeEnd: ignore, count: ignore, clear: ignore,
      assert(condition, ...values) {
        if (!condition) createWriter("error")("Assertion failed", ...values);
      },
    };
  }

  /* The functions that set the score. The first call counts. */
  function createVerdicts(state, settings) {
    function decide(score, error) {
      if (state.isDecided) return;
      state.isDecided = true;
      state.score = score;
      state.error = error || "";
    }
    function setScore(value) {
      if (value === undefined || value === null || value !== value) return decide(null);
      if (typeof value !== "number" || value === Infinity || value === -Infinity) {
        return decide(null, "setScore got " + describe(value) + ". It accepts a number, or null for a query that is not scoreable");
      }
      return decide(Math.min(100, Math.max(0, value * settings.factor)));
    }
    const pass = () => decide(100);
    const fail = () => decide(0);
    return {
      setScore, pass, fail,
      assert: (condition) => { if (!condition) fail(); },
      assertOrScore: (condition, value) => { if (!condition) setScore(value); },
    };
  }

  /* Makes a promise and its chain keep the errors of callbacks, for a script that then sets no score. */
  function trackErrors(promise, state) {
    const wrap = (f) => (typeof f !== "function" ? f : function (value) {
      try {
        return f(value);
      } catch (thrown) {
        state.keepLostError(thrown);
        throw thrown;
      }
    });
    return Object.defineProperty(promise, "then", {
      value: (onFulfilled, onRejected) => {
        const next = Reflect.apply(originalThen, promise, [wrap(onFulfilled), wrap(onRejected)]);
        return trackErrors(next, state);
      },
    });
  }

  function forEachOf(name, list, f, count) {
    if (typeof f !== "function") throw new TypeError(name + " needs a function, not " + describe(f));
    for (let i = 0; i < count && i < list.length; i += 1) f(list[i], i);
  }

  /* The values of NAMES for one query, in the same order. `query`: as messages.py encodes it. */
  function createValues(query, state, settings) {
    const docs = query.docs;
    const ratings = query.ratings;
    const k = settings.depth;
    const scale = settings.scale.slice();
    const max = scale[scale.length - 1];
    const options = query.options;
    const total = query.total === null ? docs.length : query.total;
    const bestDocs = [];
    for (const id of Object.keys(query.known)) bestDocs.push(new BestDoc(id, query.known[id]));
    bestDocs.sort(compareByGradeThenId);
    const countOrDefault = (count) => (count === undefined ? k : Number(count));

    let ratedDocs = null;
    function getRatedDocs() {
      if (ratedDocs) return ratedDocs;
      const returned = new Map();
      for (const doc of docs) if (!returned.has(String(doc.id))) returned.set(String(doc.id), doc);
      ratedDocs = bestDocs.map((best) => ({ ...returned.get(best.id), id: best.id, rating: best.rating }));
      return ratedDocs;
    }
    function avgRating(count) {
      const end = Math.min(countOrDefault(count), ratings.length);
      let sum = 0;
      let rated = 0;
      for (let i = 0; i < end; i += 1) {
        if (ratings[i] !== null) {
          sum += ratings[i];
          rated += 1;
        }
      }
      return rated ? sum / rated : null;
    }
    function roundedAverage(count, factor, divisor) {
      const mean = avgRating(count);
      return mean === null ? null : Math.floor((factor * mean) / divisor + FLOOR_TOLERANCE);
    }
    function editDistanceFromBest(count) {
      const length = Math.max(0, Math.floor(Math.min(countOrDefault(count), ratings.length)));
      const grades = [];
      const ideal = [];
      for (let i = 0; i < length; i += 1) {
        grades.push(ratings[i] === null ? 0 : ratings[i]);
        ideal.push(i < bestDocs.length && bestDocs[i].rating > 0 ? bestDocs[i].rating : 0);
      }
      return levenshtein(grades, ideal);
    }
    const refreshRatedDocs = () => trackErrors(Promise.resolve(getRatedDocs()), state);
    const queryObject = {
      text: query.text, queryText: query.text, options, ratings: query.known, docs, numFound: total,
      get ratedDocs() { return getRatedDocs(); },
    };
    const { setScore, pass, fail, assert, assertOrScore } = createVerdicts(state, settings);
    return [
      docs,
      bestDocs,
      (i) => (i < docs.length ? docs[i] : {}), // docAt
      (i) => i < docs.length, // docExistsAt
      (i) => i < docs.length && ratings[i] !== null && ratings[i] !== undefined, // hasDocRating
      (i) => ratings[i], // docRating
      (i) => (i < getRatedDocs().length ? getRatedDocs()[i] : {}), // ratedDocAt
      (i) => i < bestDocs.length, // ratedDocExistsAt
      (f, count) => forEachOf("eachDoc", docs, f, countOrDefault(count)),
      (f, count) => forEachOf("eachRatedDoc", getRatedDocs(), f, countOrDefault(count)),
      (f) => forEachOf("eachDocWithRating", bestDocs, f, Infinity),
      (grade, f) => forEachOf("eachDocWithRatingEqualTo", bestDocs.filter((best) => best.rating === grade), f, Infinity),
      (count) => bestDocs.slice(0, Math.max(0, countOrDefault(count))).map((best) => best.rating), // topRatings
      () => total, // numFound
      () => docs.length, // numReturned
      avgRating,
      (count) => roundedAverage(count, 100, max), // avgRating100
      avgRating, // baseAvg
      (count) => roundedAverage(count, 1, 1), // baseAvgRounded
      editDistanceFromBest,
      (key) => (Object.hasOwn(options, key) ? options[key] : null), // qOption
      setScore, pass, fail, assert, assertOrScore, refreshRatedDocs,
      k, max, total, options, queryObject, scale,
      createConsole(state, settings),
    ];
  }

  return { NAMES, createValues, createState, createConsole, describe, truncate };
})()
