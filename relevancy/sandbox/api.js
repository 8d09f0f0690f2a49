/* What a scorer may call, made anew for every query. Evaluates to `{NAMES, of, state, named, cut}`. */
(function () {
  "use strict";
  const NAMES = [
    "docs", "bestDocs", "docAt", "docExistsAt", "hasDocRating", "docRating", "ratedDocAt", "ratedDocExistsAt", "eachDoc",
    "eachRatedDoc", "eachDocWithRating", "eachDocWithRatingEqualTo", "topRatings", "numFound", "numReturned", "avgRating",
    "avgRating100", "baseAvg", "baseAvgRounded", "editDistanceFromBest", "qOption", "setScore", "pass", "fail", "assert",
    "assertOrScore", "refreshRatedDocs", "k", "max", "total", "options", "query", "scale", "console",
  ];
  const LONGEST_TEXT = 1000000; // cutting a longer one would first copy it as a whole
  const MOST_LINES = 1000;
  const THEN = Promise.prototype.then;

  function cut(text, most) {
    if (text.length <= most) return text;
    if (text.length > LONGEST_TEXT) return "(a text of " + text.length + " characters)";
    return text.slice(0, most) + "…";
  }

  /* A value in an error message, without running any code of its own. */
  function named(value) {
    if (typeof value === "string") return "the text " + JSON.stringify(cut(value, 200));
    if (typeof value === "bigint") return "a BigInt";
    if (typeof value === "symbol") return "a symbol";
    if (typeof value === "function") return "a function";
    if (typeof value === "object" && value !== null) return Array.isArray(value) ? "an array" : "an object";
    return String(value);
  }

  /* A value in the console; objects as JSON. May run the script's own code. */
  function shownAs(value, most) {
    if (typeof value === "string") return cut(value, most);
    if (typeof value === "function") return "function " + cut(String(value.name), 100);
    if (typeof value === "symbol" || typeof value !== "object" || value === null) return cut(String(value), most);
    try {
      if (value instanceof Error) return cut(value.name + ": " + value.message, most);
      return cut(JSON.stringify(value) ?? "undefined", most);
    } catch (_) {
      return "(an object that cannot be shown)";
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

  function byGradeThenId(a, b) {
    return b.rating - a.rating || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
  }

  function levenshtein(a, b) {
    let above = [];
    for (let j = 0; j <= b.length; j += 1) above.push(j);
    for (let i = 1; i <= a.length; i += 1) {
      const row = [i];
      for (let j = 1; j <= b.length; j += 1) {
        const same = a[i - 1] === b[j - 1] ? 0 : 1;
        row.push(Math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + same));
      }
      above = row;
    }
    return above[b.length];
  }

  /* What becomes of one query. `told` puts a thrown value into words; it may run the script's code. */
  function state(settings, told) {
    const made = { decided: false, score: null, error: "", line: null, seconds: 0, lost: null, lines: [], written: 0, full: false };
    made.lose = function (thrown) {
      made.lost ??= told(thrown);
    };
    made.write = function (level, text) {
      if (!settings.console || made.full) return;
      const room = settings.console - made.written;
      const line = level ? level + ": " + text : text;
      made.lines.push(line.length > room ? line.slice(0, room) : line);
      made.written += Math.min(line.length, room) + 1;
      if (line.length > room || made.written >= settings.console || made.lines.length >= MOST_LINES) {
        made.full = true;
        made.lines.push("… (the console is full; the rest is not kept)");
      }
    };
    return made;
  }

  function consoleOf(made, settings) {
    function writer(level) {
      return function (...values) {
        if (!settings.console || made.full) return;
        const parts = [];
        for (let i = 0; i < values.length && i < 100; i += 1) parts.push(shownAs(values[i], settings.console + 1));
        made.write(level, parts.join(" "));
      };
    }
    const plain = writer("");
    const none = function () {};
    return {
      log: plain, info: plain, debug: plain, dir: plain, table: plain, trace: plain, group: plain, warn: writer("warning"),
      error: writer("error"), groupEnd: none, time: none, timeEnd: none, count: none, clear: none,
      assert(condition, ...values) {
        if (!condition) writer("error")("Assertion failed", ...values);
      },
    };
  }

  /* The functions that decide the score. The first decision counts. */
  function verdict(made, settings) {
    function decide(score, error) {
      if (made.decided) return;
      made.decided = true;
      made.score = score;
      made.error = error || "";
    }
    function setScore(value) {
      if (value === undefined || value === null || value !== value) return decide(null);
      if (typeof value !== "number" || value === Infinity || value === -Infinity) {
        return decide(null, "setScore was given " + named(value) + "; it takes a number, or null for a query that cannot be scored");
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

  /* A promise whose callbacks' errors, otherwise lost, are kept for a script that then sets no score; its chain too. */
  function heard(promise, made) {
    const kept = (f) => (typeof f !== "function" ? f : function (value) {
      try {
        return f(value);
      } catch (thrown) {
        made.lose(thrown);
        throw thrown;
      }
    });
    return Object.defineProperty(promise, "then", {
      value: (done, refused) => heard(Reflect.apply(THEN, promise, [kept(done), kept(refused)]), made),
    });
  }

  function each(name, list, f, count) {
    if (typeof f !== "function") throw new TypeError(name + " needs a function, not " + named(f));
    for (let i = 0; i < count && i < list.length; i += 1) f(list[i], i);
  }

  /* The values of NAMES for one query, in their order. `query`: {t, d, r, b, n, o} as batch.py writes it. */
  function of(query, made, settings) {
    const docs = query.d;
    const ratings = query.r;
    const shown = settings.shown;
    const scale = settings.scale.slice();
    const max = scale[scale.length - 1];
    const options = query.o;
    const total = query.n === null ? docs.length : query.n;
    const bestDocs = [];
    for (const id of Object.keys(query.b)) bestDocs.push(new BestDoc(id, query.b[id]));
    bestDocs.sort(byGradeThenId);
    const many = (count) => (count === undefined ? shown : Number(count));

    let rated = null;
    function ratedDocs() {
      if (rated) return rated;
      const found = new Map();
      for (const doc of docs) if (!found.has(String(doc.id))) found.set(String(doc.id), doc);
      rated = bestDocs.map((best) => ({ ...found.get(best.id), id: best.id, rating: best.rating }));
      return rated;
    }
    function avgRating(count) {
      const end = Math.min(many(count), ratings.length);
      let sum = 0;
      let counted = 0;
      for (let i = 0; i < end; i += 1) {
        if (ratings[i] !== null) {
          sum += ratings[i];
          counted += 1;
        }
      }
      return counted ? sum / counted : null;
    }
    function scaled(count, times, top) {
      const mean = avgRating(count);
      return mean === null ? null : Math.floor((times * mean) / top + 1e-9);
    }
    function editDistanceFromBest(count) {
      const length = Math.max(0, Math.floor(Math.min(many(count), ratings.length)));
      const found = [];
      const best = [];
      for (let i = 0; i < length; i += 1) {
        found.push(ratings[i] === null ? 0 : ratings[i]);
        best.push(i < bestDocs.length && bestDocs[i].rating > 0 ? bestDocs[i].rating : 0);
      }
      return levenshtein(found, best);
    }
    const refreshRatedDocs = () => heard(Promise.resolve(ratedDocs()), made);
    const about = {
      text: query.t, queryText: query.t, options, ratings: query.b, docs, numFound: total,
      get ratedDocs() { return ratedDocs(); },
    };
    const { setScore, pass, fail, assert, assertOrScore } = verdict(made, settings);
    return [
      docs,
      bestDocs,
      (i) => (i < docs.length ? docs[i] : {}), // docAt
      (i) => i < docs.length, // docExistsAt
      (i) => i < docs.length && ratings[i] !== null && ratings[i] !== undefined, // hasDocRating
      (i) => ratings[i], // docRating
      (i) => (i < ratedDocs().length ? ratedDocs()[i] : {}), // ratedDocAt
      (i) => i < bestDocs.length, // ratedDocExistsAt
      (f, count) => each("eachDoc", docs, f, many(count)),
      (f, count) => each("eachRatedDoc", ratedDocs(), f, many(count)),
      (f) => each("eachDocWithRating", bestDocs, f, Infinity),
      (score, f) => each("eachDocWithRatingEqualTo", bestDocs.filter((best) => best.rating === score), f, Infinity),
      (count) => bestDocs.slice(0, Math.max(0, many(count))).map((best) => best.rating), // topRatings
      () => total, // numFound
      () => docs.length, // numReturned
      avgRating,
      (count) => scaled(count, 100, max), // avgRating100
      avgRating, // baseAvg
      (count) => scaled(count, 1, 1), // baseAvgRounded
      editDistanceFromBest,
      (key) => (Object.hasOwn(options, key) ? options[key] : null), // qOption
      setScore, pass, fail, assert, assertOrScore, refreshRatedDocs,
      shown, max, total, options, about, scale,
      consoleOf(made, settings),
    ];
  }

  return { NAMES, of, state, named, cut };
})()
