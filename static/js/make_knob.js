// Makes a knob of a number or a text of the template: what that is, and what its knob is called.

const SLOT = /#\$[\w.]+(?:\|[^#&"\\\r\n]*)?##|##\w+##/g;
const NUMBER = /(?<![\w.#$-])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w#]|\.\d)/g;
// A text that is the whole value of a member of JSON or of a parameter, as "2<75%" or "and" are; fields with boosts, functions and queries
// have other characters.
const TEXT = /(?<=:\s*")[^"\\^:(){}\s#]+(?=")|(?<=(?:^|[&\n])\s*[\w.-]+=)[^&^:(){}\s#]+(?=\s*(?:[&\n]|$))/g;
const TOKEN = /"((?:[^"\\]|\\.)*)"(\s*:)?|[{}[\]]/g; // of JSON: keys are strings before a colon
const VAGUE = new Set(["boost", "weight", "value", "factor"]); // say nothing without the key around them
const MAX_NAME = 40;

/** The number or text at a position, or right before it, as {start, end, value, name}; null if there is none, or if it is a knob
 * already. A number that is part of a text stands for all of it: "2<75%" is one value. */
export function valueAt(text, position) {
  const slots = [...text.matchAll(SLOT)].map((match) => [match.index, match.index + match[0].length]);
  for (const match of [...text.matchAll(TEXT), ...text.matchAll(NUMBER)]) {
    const [start, end] = [match.index, match.index + match[0].length];
    if (position < start || position > end) continue;
    if (slots.some(([from, to]) => start < to && end > from)) return null;
    return { start, end, value: match[0], name: unusedName(text, proposeName(text.slice(0, start))) };
  }
  return null;
}

/** A name from what stands before the number: the field that it boosts, the key of JSON, or the parameter. */
function proposeName(before) {
  const boosted = /([\w.]+)\^$/.exec(before)?.[1];
  if (boosted) return clean(`${boosted.split(".").pop()}_boost`);
  const [key, around] = before.trimStart().startsWith("{") ? keysAround(before) : [];
  if (key) return clean(around && VAGUE.has(key) ? `${around}_${key}` : key);
  const parameters = [...before.matchAll(/(?:^|[\s&{])([A-Za-z_][\w.-]*)=/g)];
  return clean(parameters.pop()?.[1] ?? "knob");
}

/** The keys of JSON that a position lies in, the innermost first. */
function keysAround(before) {
  const keys = [];
  for (const [token, name, colon] of before.matchAll(TOKEN)) {
    if (token === "{" || token === "[") keys.push("");
    else if (token === "}" || token === "]") keys.pop();
    else if (colon && keys.length) keys[keys.length - 1] = name;
  }
  return keys.filter(Boolean).reverse();
}

function clean(name) {
  const word = name.replace(/\W+/g, "_").replace(/^_+|_+$/g, "");
  return (/^[A-Za-z]/.test(word) ? word : `knob_${word}`).slice(0, MAX_NAME);
}

function unusedName(text, name) {
  let [unused, count] = [name, 1];
  while (text.includes(`##${unused}##`)) unused = `${name}_${++count}`;
  return unused;
}
