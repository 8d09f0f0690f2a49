// The code editor: Ace in place of <textarea data-editor="params|json|javascript">, for templates and scripts.
//   data-base                                    compared with the text: lines that differ are marked
//   data-error-line, -column, -text              the place of an error, 1-based, and what is wrong there
//   data-names, [data-completions]               what completes the text: see completions.js
// The field stays in the form, hidden; it follows the editor and fires "input", and the editor follows it if a script changes it
// and fires "input". Event "codebase" on the field: data-base has changed. Escape leaves the editor, so that Tab moves on.
// <button data-make-knob="name of the field"> and Ctrl Alt K make a knob of the number or text at the cursor; Ctrl Z takes it back.
// Event "codeerror" on document, detail {line, column, text} or null: shows an error in the page's script, or clears it.

import { TEMPLATE_MODES } from "./code_modes.js";
import { completionsFor } from "./completions.js";
import { changedLines } from "./line_diff.js";
import { valueAt } from "./make_knob.js";

const { ace } = window;
const { Range } = ace.require("ace/range");
const { Autocomplete } = ace.require("ace/autocomplete");
const editors = new Map(); // field → editor

ace.config.set("useStrictCSP", true); // Ace's styles come from a stylesheet
const THEME = { cssClass: "ace-relevancy", cssText: "", isDark: false }; // colours stand in editor.css
ace.config.setDefaultValue("session", "useWorker", false); // the server checks templates and scripts
// Commands that would load further parts of Ace; the browser's own search serves.
const UNUSED_COMMANDS = ["find", "replace", "gotoline", "showSettingsMenu", "openCommandPalette", "openCommandPallete"];
const MIN_LINES = 10;
const MAX_LINES = 30;

function options(field) {
  const isScript = field.dataset.editor === "javascript";
  return {
    behavioursEnabled: field.dataset.editor !== "params",
    enableBasicAutocompletion: !isScript,
    enableKeyboardAccessibility: true,
    enableLiveAutocompletion: !isScript,
    highlightActiveLine: !field.matches(":disabled"),
    maxLines: isScript ? undefined : MAX_LINES,
    minLines: isScript ? undefined : MIN_LINES,
    readOnly: field.matches(":disabled"),
    scrollPastEnd: 0,
    showFoldWidgets: isScript,
    showLineNumbers: true,
    showPrintMargin: false,
    tabSize: 2,
    useSoftTabs: true,
    wrap: !isScript,
  };
}

/** Completes field names, words of the engine, placeholders and knobs; chooses nothing by itself, so that Enter breaks the line. */
function completer(field) {
  return {
    identifierRegexps: [/[\w.#$]/],
    async getCompletions(_editor, _session, _position, prefix, callback) {
      const completions = await completionsFor(field);
      if (!completions) return callback(null, []);
      const slots = prefix.startsWith("#") || !prefix ? completions.slots : [];
      const words = prefix.startsWith("#") ? [] : [...completions.names, ...completions.words];
      const entry = (meta) => (value) => ({ caption: value, value, meta, completer: this });
      callback(null, [...slots.map(entry("placeholder")), ...words.map(entry(""))]);
    },
  };
}

function label(editor, field) {
  const input = editor.textInput.getElement();
  const name = field.getAttribute("aria-label") ?? field.labels[0]?.textContent.trim() ?? "";
  editor.setOption("textInputAriaLabel", name);
  editor.textInput.setAriaLabel();
  for (const attribute of ["aria-describedby", "aria-invalid", "data-key-go"]) {
    if (field.hasAttribute(attribute)) input.setAttribute(attribute, field.getAttribute(attribute));
  }
  field.removeAttribute("data-key-go");
  for (const label of field.labels) label.addEventListener("click", () => editor.focus());
}

/** Marks the lines that differ from `data-base`. Returns a function that does it again. */
function markChanges(editor, field) {
  if (field.dataset.base === undefined) return () => {};
  const { session } = editor;
  let marks = [];
  return () => {
    for (const { row, id } of marks) {
      session.removeMarker(id);
      session.removeGutterDecoration(row, "ace-changed-number");
    }
    marks = [...changedLines(field.dataset.base.split("\n"), session.getDocument().getAllLines())].map((row) => {
      session.addGutterDecoration(row, "ace-changed-number");
      return { row, id: session.addMarker(new Range(row, 0, row, 1), "ace-changed-line", "fullLine") };
    });
  };
}

function clearError(editor) {
  editor.session.clearAnnotations();
  editor.session.removeMarker(editor.errorMarker);
  editor.errorLine = null;
}

function showError(editor, { line, column, text }) {
  clearError(editor);
  const { session } = editor;
  const row = Math.min(line, session.getLength()) - 1;
  const content = session.getLine(row);
  const start = Math.min(column - 1, Math.max(content.length - 1, 0));
  const word = /^(?:#[$#][^#\n]*##|[\w.$#-]+|.)/.exec(content.slice(start))?.[0] ?? " ";
  session.setAnnotations([{ row, column: column - 1, text, type: "error" }]);
  const range = new Range(row, start, row, start + word.length);
  editor.errorMarker = session.addMarker(range, "ace-error-word", "text");
  editor.errorLine = { row, content };
  editor.scrollToLine(row, true, false);
}

function errorOf({ errorLine, errorColumn, errorText }) {
  return errorLine && { line: Number(errorLine), column: Number(errorColumn) || 1, text: errorText ?? "" };
}

/** Puts ##name## in place of the number or text at the cursor, and that into the field of the knob. */
function makeKnob(editor, field) {
  const { session } = editor;
  const lines = session.getDocument();
  const position = lines.positionToIndex(editor.getCursorPosition());
  const found = valueAt(editor.getValue(), position);
  if (!found) {
    const text = "There is no number or text at the cursor. Click a value of the template first.";
    document.dispatchEvent(new CustomEvent("toast", { detail: { text, level: "warning" } }));
    return;
  }
  const [start, end] = [found.start, found.end].map((index) => lines.indexToPosition(index));
  session.replace(Range.fromPoints(start, end), `##${found.name}##`); // js/knobs.js adds the knob
  const value = field.form?.querySelector(`[data-knob="${found.name}"] input[type=text]`);
  if (value) {
    value.value = found.value;
    value.dispatchEvent(new Event("input", { bubbles: true }));
  }
  editor.focus();
}

function attach(field) {
  if (editors.has(field)) return;
  const host = Object.assign(document.createElement("div"), { className: `code-editor ${field.dataset.editor}` });
  field.before(host);
  const editor = ace.edit(host, { value: field.value, theme: THEME });
  editors.set(field, editor);
  field.hidden = true;
  field.required = false; // the browser could not point at a hidden field
  editor.setOptions(options(field));
  editor.renderer.setScrollMargin(6, 6);
  editor.session.setMode(TEMPLATE_MODES[field.dataset.editor]?.() ?? `ace/mode/${field.dataset.editor}`);
  for (const command of UNUSED_COMMANDS) editor.commands.removeCommand(command);
  editor.completers = [completer(field)];
  Autocomplete.for(editor).autoSelect = false;
  if (field.closest("[data-knobs]") && !field.matches(":disabled")) {
    editor.commands.addCommand({
      name: "makeKnob",
      bindKey: { win: "Ctrl-Alt-K", mac: "Command-Alt-K" },
      exec: () => makeKnob(editor, field),
    });
  }
  label(editor, field);
  const compare = markChanges(editor, field);
  editor.session.on("change", () => {
    field.value = editor.getValue();
    const { errorLine } = editor;
    if (errorLine && editor.session.getLine(errorLine.row) !== errorLine.content) clearError(editor);
    compare();
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
  compare();
  field.addEventListener("codebase", compare);
  field.addEventListener("input", () => {
    if (field.value !== editor.getValue()) editor.setValue(field.value, -1); // undone by Ctrl Z
  });
  const error = errorOf(field.dataset);
  if (error) showError(editor, error);
}

function setUp(part) {
  if (part.matches?.("textarea[data-editor]")) attach(part);
  for (const field of part.querySelectorAll?.("textarea[data-editor]") ?? []) attach(field);
}

document.addEventListener("htmx:load", (event) => setUp(event.detail.elt));
document.addEventListener("htmx:beforeCleanupElement", (event) => {
  editors.get(event.target)?.destroy();
  editors.delete(event.target);
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-make-knob]");
  const field = button?.form?.elements[button.dataset.makeKnob];
  if (editors.has(field)) makeKnob(editors.get(field), field);
});
document.addEventListener("codeerror", (event) => {
  const editor = editors.get(document.querySelector("textarea[data-editor=javascript]"));
  if (!editor) return;
  if (event.detail) showError(editor, event.detail);
  else clearError(editor);
});
setUp(document);
