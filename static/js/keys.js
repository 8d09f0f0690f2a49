// Keyboard shortcuts. They are read from the key help of the page (<dialog id="keys">, _ui/keys.html), so that help and
// behaviour cannot differ. On the page:
//   data-key-item       a row that j and k go to; may hold further ones. Give it an id; tabindex="-1" on all but the first
//   data-key-open       inside a row: what Enter presses      data-unrated="3", data-failed: on a row, for u and e
//   data-key-undo       what z presses where no toast offers Undo
//   data-key-out        what Esc presses: closes what is open beside the list
//   data-key-filter, data-key-jump, data-key-run              data-key-press="name", data-key-go="name"
//   <body data-keys="off">   disables all shortcuts without Ctrl or Alt

const help = document.getElementById("keys");
const bindings = new Map();
for (const line of help?.querySelectorAll("[data-keys][data-does]") ?? []) {
  for (const key of line.dataset.keys.split(" ")) bindings.set(key, line.dataset.does);
}

const TYPING =
  "input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=range]), textarea, select, [contenteditable]";
const NATIVE = "a[href], button, summary, input, select, textarea, label";
let current = null;
let byKeyboard = false;

const visible = (node) => node.getClientRects().length > 0;
const items = () => [...document.querySelectorAll("[data-key-item]")].filter(visible);
const parentItem = (item) => item.parentElement?.closest("[data-key-item]") ?? null;
const within = (item, selector) =>
  [...item.querySelectorAll(selector)].find((node) => node.closest("[data-key-item]") === item);

function currentItem() {
  if (current && !current.isConnected && current.id) current = document.getElementById(current.id);
  return current?.isConnected ? current : null;
}

function mark() {
  for (const item of document.querySelectorAll("[data-key-item].is-active"))
    if (item !== current) item.classList.remove("is-active");
  if (byKeyboard && currentItem()) current.classList.add("is-active");
}

function moveTo(item) {
  if (!item) return;
  if (currentItem()?.hasAttribute("tabindex")) current.tabIndex = -1;
  current = item;
  byKeyboard = true;
  mark();
  const opener = within(item, "[data-key-open]");
  if (!(opener && item.localName === "tbody")) item.tabIndex = 0;
  (opener && item.localName === "tbody" ? opener : item).focus({ preventScroll: true });
  const row = item.localName === "tbody" ? item.rows[0] : item;
  row.scrollIntoView({ block: "nearest" });
}

function step(by, wanted = () => true, nothing = "") {
  const all = items();
  const at = all.indexOf(currentItem());
  if (wanted === step.any) {
    const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by];
    return next ? moveTo(next) : turnPage(by, wanted, "");
  }
  const next = all.slice(at + 1).find(wanted);
  return next ? moveTo(next) : turnPage(by, wanted, nothing);
}

/** Goes on with the next page of the list, or with the previous one; without one to the beginning of this page. */
function turnPage(by, wanted, nothing) {
  const link = document.querySelector(by > 0 ? ".pager a[rel=next]" : ".pager a[rel=prev]");
  if (!link) {
    const matching = wanted === step.any ? null : items().find(wanted);
    if (!matching && nothing) document.dispatchEvent(new CustomEvent("toast", { detail: { text: nothing } }));
    return moveTo(matching);
  }
  const continueMove = (event) => {
    if (event.detail.requestConfig?.elt !== link) return;
    document.removeEventListener("htmx:afterSettle", continueMove);
    current = null;
    step(by, wanted, nothing);
  };
  document.addEventListener("htmx:afterSettle", continueMove);
  return link.click();
}
step.any = () => true;

function isUnrated(item) {
  const rates = [...item.querySelectorAll(".rate")].filter((rate) => rate.closest("[data-key-item]") === item);
  const nested = [...item.querySelectorAll("[data-key-item]")].some(visible);
  if (nested) return false;
  return (
    Number(item.dataset.unrated) > 0 ||
    (item.dataset.unrated === undefined && rates.some((rate) => !rate.classList.contains("rated")))
  );
}

function grades() {
  const item = currentItem();
  // A row that holds results may have a bar to rate all of them: a digit must not press its buttons.
  if (!item || [...item.querySelectorAll("[data-key-item]")].some(visible)) return [];
  return [...item.querySelectorAll("[data-grade]")];
}

// ---- whether a digit also goes to the next result: an option in the key help, kept by this browser
const GOES_ON = "relevancy go on after a rating";
const option = help?.querySelector("[data-go-on]");

function movesOn() {
  return Boolean(option?.checked);
}

try {
  if (option) option.checked = localStorage.getItem(GOES_ON) === "1";
} catch {
  // A browser that stores nothing starts without it.
}
option?.addEventListener("change", () => {
  try {
    localStorage.setItem(GOES_ON, option.checked ? "1" : "0");
  } catch {
    // It holds until the page is closed.
  }
});

function rate(digit) {
  const buttons = grades();
  const wanted = buttons.find((button) => button.dataset.grade === digit);
  const buttonTen = digit === "0" ? buttons.find((button) => button.dataset.grade === "10") : null;
  if (wanted ?? buttonTen) {
    // On the chosen grade a click would take the rating back; the digit means "this grade", the other key takes it back.
    const button = wanted ?? buttonTen;
    if (button.getAttribute("aria-checked") !== "true") button.click();
    if (movesOn()) step(1, step.any);
    return;
  }
  const field = currentItem() && within(currentItem(), "[data-grade-field]");
  if (!field) return;
  field.focus();
  field.value = digit;
}

function go(name) {
  const target = named("go", name);
  if (!target) return;
  if (target.matches("a[href]")) return target.click();
  if (!visible(target) && target.closest("#tune")) location.hash = "tune";
  const focusable = target.matches("a, button, input, select, textarea, [tabindex]")
    ? target
    : target.querySelector("a[href], button, input:not([type=hidden]), select, textarea, [tabindex]");
  (focusable ?? target).focus();
  target.scrollIntoView({ block: "nearest" });
}

function named(kind, name) {
  const selector = `[data-key-${kind}="${CSS.escape(name)}"]`;
  for (let item = currentItem(); item; item = parentItem(item)) {
    const inside = within(item, selector);
    if (inside) return inside;
  }
  return [...document.querySelectorAll(selector)].find((node) => !node.closest("[data-key-item]")) ?? null;
}

const actions = {
  help: () => help.showModal(),
  jump: () => (document.querySelector("[data-key-jump]") ?? document.querySelector("[data-key-filter]"))?.focus(),
  filter: () => document.querySelector("[data-key-filter]")?.focus(),
  undo: () => {
    const offered = [...document.querySelectorAll("#toasts [data-undo] button")].at(-1);
    (offered ?? document.querySelector("[data-key-undo]"))?.click();
  },
  theme: () => document.querySelector("[data-theme-switch]")?.click(),
  next: () => step(1, step.any),
  previous: () => step(-1, step.any),
  unrated: () => step(1, isUnrated, "Nothing unrated follows"),
  failed: () =>
    step(1, (item) => item.hasAttribute("data-failed") || item.classList.contains("failed"), "No failed query follows"),
  open: () => currentItem() && within(currentItem(), "[data-key-open]")?.click(),
  out: () => {
    const item = currentItem();
    const close = document.querySelector("[data-key-out]");
    if (close) return close.click();
    if (!item) return document.activeElement?.blur();
    if (parentItem(item)) return moveTo(parentItem(item));
    const opener = within(item, "[data-key-open]");
    if (opener?.getAttribute("aria-expanded") === "true") return opener.click();
    current.classList.remove("is-active");
    current = null;
    return document.activeElement?.blur();
  },
  rate: (key) => rate(key),
  unrate: () => {
    const chosen = grades().find((button) => button.getAttribute("aria-checked") === "true");
    (chosen ?? (currentItem() && within(currentItem(), "[data-grade-back]")))?.click();
  },
  run: () => document.querySelector("[data-key-run]")?.click(),
  press: (_key, name) => named("press", name)?.click(),
  go: (_key, name) => go(name),
  tell: (_key, name) => currentItem()?.dispatchEvent(new CustomEvent(`key:${name}`, { bubbles: true })),
};

let prefix = "";
let prefixTimer = 0;

function lookUp(event) {
  const modifiers = (event.ctrlKey || event.metaKey ? "Ctrl+" : "") + (event.altKey ? "Alt+" : "");
  const key = modifiers + event.key;
  const does = (prefix && bindings.get(`${prefix}>${key}`)) || bindings.get(key);
  clearTimeout(prefixTimer);
  prefix = "";
  if (!does && [...bindings.keys()].some((name) => name.startsWith(`${key}>`))) {
    prefix = key;
    prefixTimer = setTimeout(() => {
      prefix = "";
    }, 1200);
  }
  return does;
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
  const modified = event.ctrlKey || event.metaKey || event.altKey;
  const target = event.target instanceof Element ? event.target : document.body;
  const typing = target.closest(TYPING) !== null && visible(target); // the field of a closed dialog is still the target
  if (document.body.dataset.keys === "off" && !modified) return;
  if (typing && event.key === "Escape" && bindings.has("Escape")) {
    target.blur();
    if (currentItem()) moveTo(currentItem());
    return;
  }
  if (typing && !(modified && event.key === "Enter")) return;
  if (event.key === "Enter" && !modified && target.closest(NATIVE)) return;
  const does = lookUp(event);
  if (!does) return;
  const [action, name] = does.split(":");
  if (event.repeat && action !== "next" && action !== "previous") return;
  event.preventDefault();
  actions[action](event.key, name);
});

document.addEventListener("focusin", (event) => {
  const item = event.target.closest?.("[data-key-item]");
  if (item && item !== current) {
    current = item;
    mark();
  }
});
document.addEventListener("pointerdown", (event) => {
  byKeyboard = false;
  for (const item of document.querySelectorAll("[data-key-item].is-active")) item.classList.remove("is-active");
  const item = event.target.closest?.("[data-key-item]");
  if (item) current = item;
});
document.addEventListener("htmx:afterSettle", () => mark());
