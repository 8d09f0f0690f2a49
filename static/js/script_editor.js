// Ace over the script field (django_ace makes it on "load", after this file has run): no worker, for its own checker does not
// know what scripts may call and the server says what is wrong; errors as marks in the gutter and under their line.
//   data-error-line, data-error-column, data-error-text   on the field: what the server refused

const { ace } = window;
const field = document.querySelector("textarea[data-script]");
const source = document.querySelector("script[data-ace]").dataset.ace;
ace.config.set("basePath", source.slice(0, source.lastIndexOf("/")));
ace.config.setDefaultValue("session", "useWorker", false);

let editor = null;
let marker = null;

function clear() {
  const { session } = editor;
  session.clearAnnotations();
  if (marker !== null) session.removeMarker(marker);
  marker = null;
}

function show({ line, column, text }) {
  const { Range } = ace.require("ace/range");
  const row = Math.min(line, editor.session.getLength()) - 1;
  editor.session.setAnnotations([{ row, column: column - 1, text, type: "error" }]);
  marker = editor.session.addMarker(new Range(row, 0, row, 1), "script-wrong", "fullLine");
  editor.scrollToLine(row, true, false);
}

function setUp() {
  const widget = field?.parentElement.querySelector(".django-ace-widget");
  editor = widget?.editor;
  if (!editor) return;
  editor.setOptions({ enableKeyboardAccessibility: true, textInputAriaLabel: "Script", useSoftTabs: true });
  editor.session.on("change", () => {
    clear();
    document.dispatchEvent(new CustomEvent("scriptchange"));
  });
  const { errorLine, errorColumn, errorText } = field.dataset;
  if (errorLine) {
    show({ line: Number(errorLine), column: Number(errorColumn) || 1, text: errorText });
    editor.gotoLine(Number(errorLine), Number(errorColumn) - 1 || 0);
  }
}

addEventListener("load", () => setTimeout(setUp)); // after django_ace
document.addEventListener("scriptfault", (event) => {
  if (!editor) return;
  clear();
  if (event.detail) show(event.detail);
});
