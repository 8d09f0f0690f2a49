// <textarea data-editor="params|json"> becomes the editor: line numbers, colours, changed lines, the place of an error.
//   data-base            the text of the last run: lines that differ from it are marked
//   data-error-line, data-error-column   1-based, what the server refused; goes away when that line is edited
// The field stays the field: it is what is typed in, sent and read aloud. Colours lie under it.

const SLOT = /#[$#][^#\n]*##/y;
const make = (name, className, text = "") => Object.assign(document.createElement(name), { className, textContent: text });

// ---- a line is a list of [class or "", text]
function scan(text, rules) {
  const parts = [];
  let plain = "";
  for (let at = 0; at < text.length; ) {
    let found = null;
    for (const [kind, pattern] of rules) {
      pattern.lastIndex = at;
      const match = pattern.exec(text);
      if (match && match[0]) {
        found = [typeof kind === "function" ? kind(text, at, match[0]) : kind, match[0]];
        break;
      }
    }
    if (found) {
      if (plain) parts.push(["", plain]);
      plain = "";
      parts.push(found);
      at += found[1].length;
    } else {
      plain += text[at++];
    }
  }
  if (plain) parts.push(["", plain]);
  return parts;
}

const BOOST = [["c-slot", SLOT], ["c-value", /(?<=[\^~])-?[\d.]+/y]];
const JSON_RULES = [
  ["c-slot", SLOT],
  [(text, at, match) => (/^\s*:/.test(text.slice(at + match.length)) ? "c-name" : "c-value"), /"(?:[^"\\#]|\\.|#(?![$#]))*"/y],
  ["c-value", /-?\b\d[\d.eE+-]*|\b(?:true|false|null)\b/y],
];

function params(line) {
  const name = /^(\s*&?)([^=&\s#]+)(=)/.exec(line);
  if (!name) return scan(line, BOOST);
  const value = line.slice(name[0].length);
  const simple = value && !/[\^~&]|#[$#]/.test(value);
  return [["", name[1]], ["c-name", name[2]], ["", name[3]], ...(simple ? [["c-value", value]] : scan(value, BOOST))];
}

const languages = { params, json: (line) => scan(line, JSON_RULES) };

// ---- lines that are not in the longest common part of both texts
function changedLines(base, lines) {
  const before = base.split("\n");
  const table = Array.from({ length: before.length + 1 }, () => new Uint16Array(lines.length + 1));
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = lines.length - 1; j >= 0; j--) {
      table[i][j] = before[i] === lines[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
    }
  }
  const changed = new Set(lines.keys());
  for (let i = 0, j = 0; i < before.length && j < lines.length; ) {
    if (before[i] === lines[j]) {
      changed.delete(j);
      i++;
      j++;
    } else if (table[i + 1][j] >= table[i][j + 1]) i++;
    else j++;
  }
  return changed;
}

// ---- the part from the error's column to the end of its word
function underline(parts, column) {
  let start = column - 1;
  const text = parts.map(([, piece]) => piece).join("");
  const word = /^(?:#[$#][^#\n]*##|[\w.$#-]+|.)/.exec(text.slice(start)) ?? [""];
  if (!word[0]) start = Math.max(0, text.length - 1);
  const end = start + (word[0].length || 1);
  const cut = [];
  let at = 0;
  for (const [kind, piece] of parts) {
    const from = Math.max(start - at, 0);
    const to = Math.min(end - at, piece.length);
    if (from >= to) {
      cut.push([kind, piece]);
    } else {
      cut.push([kind, piece.slice(0, from)], [`${kind} wrong`.trim(), piece.slice(from, to)], [kind, piece.slice(to)]);
    }
    at += piece.length;
  }
  return cut.filter(([, piece]) => piece);
}

const LONGEST = 2000; // lines; a longer text is edited without colours

function draw({ field, gutter, code, fault }) {
  const lines = field.value.split("\n");
  const language = languages[field.dataset.editor] ?? ((line) => [["", line]]);
  const changed = field.dataset.base === undefined || lines.length > LONGEST ? new Set() : changedLines(field.dataset.base, lines);
  const drawn = document.createDocumentFragment();
  const numbers = document.createDocumentFragment();
  lines.forEach((line, i) => {
    const wrong = i === fault.line - 1 && line === fault.text;
    let parts = lines.length > LONGEST ? [["", line]] : language(line);
    if (wrong) parts = underline(parts, fault.column);
    const row = changed.has(i) ? make("span", "changed") : document.createDocumentFragment();
    for (const [kind, text] of parts) row.append(kind ? make("span", kind, text) : text);
    if (changed.has(i) && !line) row.append("\u200b");
    drawn.append(row, "\n");
    numbers.append(make("span", wrong ? "at-fault" : "", String(i + 1)), "\n");
  });
  code.replaceChildren(drawn);
  gutter.replaceChildren(numbers);
}

function enhance(field) {
  if (field.closest(".editor")) return;
  const editor = make("div", "editor");
  const gutter = make("pre", "lines");
  const pane = make("div", "pane");
  const layers = make("div", "layers");
  const code = make("pre", "code");
  gutter.ariaHidden = code.ariaHidden = "true";
  field.replaceWith(editor);
  layers.append(code, field);
  pane.append(layers);
  editor.append(gutter, pane);
  field.classList.remove("input");
  field.wrap = "off";
  field.rows = 1;
  field.spellcheck = false;
  field.autocapitalize = "off";
  const line = Number(field.dataset.errorLine) || 0;
  const fault = { line, column: Number(field.dataset.errorColumn) || 1, text: field.value.split("\n")[line - 1] };
  const parts = { field, gutter, code, fault };
  field.addEventListener("input", () => draw(parts));
  field.form?.addEventListener("reset", () => setTimeout(() => draw(parts)));
  draw(parts);
}

function setUp(part) {
  const inside = [...(part.querySelectorAll?.("textarea[data-editor]") ?? [])];
  for (const field of part.matches?.("textarea[data-editor]") ? [part, ...inside] : inside) enhance(field);
}

document.addEventListener("htmx:load", (event) => setUp(event.detail.elt));
setUp(document);
