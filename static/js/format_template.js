// Formats query templates: <button data-format="name of the field"> puts a JSON template into lines of two blanks for each level,
// and the parameters of the others on lines of their own. Placeholders and knobs stay as they are; Ctrl Z takes it back.

const SLOT = String.raw`#\$[\w.]+(?:\|[^#&"\\\r\n]*)?##|##\w+##`;
const TOKEN = new RegExp(String.raw`\s+|"(?:${SLOT}|[^"\\]|\\[^])*"|${SLOT}|[{}\[\],:]|[^\s"{}\[\],:#]+|[^]`, "g");
const WIDTH = 76; // characters; what fits is written on one line

/** Reads the entries of an object or a list: [[part, …], …], of which a part is a token or {open, close, entries}. */
function readEntries(tokens, close) {
  const entries = [];
  let entry = [];
  while (tokens.length) {
    const token = tokens.shift();
    if (token === close) {
      if (entry.length) entries.push(entry);
      return entries;
    }
    if (token === ",") {
      entries.push(entry);
      entry = [];
    } else if (token === "{" || token === "[") {
      const end = token === "{" ? "}" : "]";
      entry.push({ open: token, close: end, entries: readEntries(tokens, end) });
    } else if (token === "}" || token === "]") throw new SyntaxError(`unexpected ${token}`);
    else entry.push(token);
  }
  throw new SyntaxError(`missing ${close}`);
}

const write = (part, indent) => (typeof part === "string" ? part : writeContainer(part, indent));
const writeEntry = (entry, indent) => {
  const [name, colon, ...rest] = entry;
  if (colon !== ":") return entry.map((part) => write(part, indent)).join(" ");
  return `${name}: ${rest.map((part) => write(part, indent)).join(" ")}`;
};

function writeContainer({ open, close, entries }, indent, isBroken = false) {
  if (!entries.length) return open + close;
  const flat = open + entries.map((entry) => writeEntry(entry, "")).join(", ") + close;
  if (!isBroken && indent.length + flat.length <= WIDTH && !flat.includes("\n")) return flat;
  const deeper = `${indent}  `;
  const lines = entries.map((entry) => deeper + writeEntry(entry, deeper));
  return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}

function formatJson(text) {
  const tokens = text.match(TOKEN).filter((token) => token.trim());
  const root = tokens.shift();
  const formatted = { open: root, close: "}", entries: readEntries(tokens, "}") };
  if (tokens.length) throw new SyntaxError("text after the end");
  return writeContainer(formatted, "", true);
}

function formatParameters(text) {
  const isComment = (line) => /^[ \t]*#(?:[ \t].*)?$/.test(line);
  const withName = (part) => (/^[A-Za-z_][\w.-]*=/.test(part) ? part : `&${part}`);
  const lines = text.split(/\r?\n/).flatMap((line) => {
    if (isComment(line) || !line.includes("&")) return [line.trimEnd()];
    const [first, ...parts] = line.trim().split("&");
    return [...(first ? [first] : []), ...parts.filter((part) => part).map(withName)];
  });
  return lines.join("\n");
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-format]");
  const field = button?.form?.elements[button.dataset.format];
  if (!field) return;
  try {
    const formatted = field.value.trimStart().startsWith("{") ? formatJson(field.value) : formatParameters(field.value);
    if (formatted === field.value) return;
    field.value = formatted;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  } catch (error) {
    const text = `The template is not formatted: ${error.message}`;
    document.dispatchEvent(new CustomEvent("toast", { detail: { text, level: "warning" } }));
  }
});
