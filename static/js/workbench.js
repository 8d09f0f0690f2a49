// The workbench keeps its place: when the list of queries is reloaded during a run, opened queries stay open; the focus returns to
// the button that started the run; another run or attempt of the case is shown without leaving the page.

const openInputs = () => [...document.querySelectorAll("#queries input[name=open]")];
const openIds = () => openInputs().map((input) => input.value);
/** What is open: the queries and their tabs. */
const openParts = () =>
  openInputs()
    .flatMap((input) => [input.value, input.dataset.tab ?? ""])
    .join();
/** Adds the tabs of opened queries, where they are not the first ones. */
function addTabs(parameters) {
  for (const input of document.querySelectorAll("#queries input[name=open][data-tab]"))
    parameters.append("tab", input.dataset.tab);
}
/** Adds what is open to the address of a list that is requested. */
function addOpen(request, most) {
  const address = new URL(request.path, location.href);
  for (const id of openIds().slice(0, most)) address.searchParams.append("open", id);
  addTabs(address.searchParams);
  request.openParts = openParts(); // the event of the answer has the same object
  request.path = address.pathname + address.search;
}

document.addEventListener("htmx:configRequest", (event) => {
  const { elt, triggeringEvent } = event.detail;
  if (event.detail.path.endsWith("/ratings/undo/")) {
    for (const id of openIds()) event.detail.formData.append("open", id);
  }
  if (elt.id === "try-button") {
    for (const id of openIds().slice(0, 3)) event.detail.formData.append("try", id);
  }
  if (elt.id === "queries") addOpen(event.detail, 5);
  else if (triggeringEvent?.type === "run-shown") addOpen(event.detail);
});

// A list that arrives between pressing a button of the mouse and releasing it would take the click away.
let isPressed = false;
document.addEventListener("pointerdown", (event) => {
  isPressed = Boolean(event.target.closest?.("#queries"));
});
for (const name of ["pointerup", "pointercancel"]) {
  document.addEventListener(name, () => {
    setTimeout(() => {
      isPressed = false;
    }); // the click comes first
  });
}

/** Whether a list that was requested when `asked` was open would close something, or take the answer to a click away. */
function isChanging(list, asked) {
  return isPressed || openParts() !== asked || list.querySelector(".htmx-request:not([data-in-background])") !== null;
}

/** Whether a new list would lose what was not sent yet, or what is being typed. */
function hasUnsaved(list) {
  const fields = [...list.querySelectorAll("input:not([type=hidden], [type=checkbox], [type=radio]), textarea")];
  return list.querySelector(".unsaved") !== null || fields.some((field) => field.value !== field.defaultValue);
}

// Such a list is not shown, but requested again. Event detail `again`: how, if not by the list itself.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { elt, triggeringEvent, openParts: asked } = event.detail.requestConfig;
  const list = document.getElementById("queries");
  if (asked === undefined || !triggeringEvent?.type.startsWith("run-") || !list) return;
  if (!isChanging(list, asked) && !(elt.id === "queries" && hasUnsaved(list))) return;
  event.detail.shouldSwap = false;
  setTimeout(triggeringEvent.detail?.again ?? (() => window.htmx.trigger("#queries", "run-list")), 300);
});

document.addEventListener("run-started", (event) => {
  const { list_url: listUrl } = event.detail;
  document.getElementById("queries")?.classList.add("is-outdated");
  if (!listUrl) return; // the list of the page follows the new run by itself, unless it shows another one
  const again = () => {
    const triggering = new CustomEvent("run-list", { detail: { again } });
    const source = "#queries";
    window.htmx.ajax("GET", listUrl, { source, target: source, swap: "outerHTML", event: triggering });
  };
  again();
});

let startedByButton = false;
document.addEventListener("htmx:beforeSwap", () => {
  if (document.activeElement?.id === "run-button") startedByButton = true;
});
document.addEventListener("htmx:afterSettle", () => {
  const button = document.getElementById("run-button");
  if (!button || !startedByButton) return;
  startedByButton = false;
  if (!document.activeElement || document.activeElement === document.body) button.focus({ preventScroll: true });
});

// ---- the address names what is open, so that back, reload and links bring it back
const MOST_OPEN = 5; // see MAX_OPEN in views/workbench/query_list.py

function nameOpen() {
  if (!document.getElementById("queries")) return;
  const address = new URL(location.href);
  address.searchParams.delete("open");
  address.searchParams.delete("tab");
  for (const id of openIds().slice(0, MOST_OPEN)) address.searchParams.append("open", id);
  addTabs(address.searchParams);
  if (address.search !== location.search) history.replaceState(history.state, "", address);
}
for (const name of ["htmx:afterSettle", "htmx:pushedIntoHistory", "htmx:replacedInHistory"])
  document.addEventListener(name, nameOpen);

// ---- a list that was sorted again keeps the focused or opened query where it is on the screen
let anchor = null;

function isInView(row) {
  const { top } = row.getBoundingClientRect();
  return top >= 0 && top < window.innerHeight;
}

document.addEventListener("htmx:beforeSwap", (event) => {
  const { shouldSwap, target, requestConfig } = event.detail;
  if (target?.id !== "queries" && requestConfig.triggeringEvent?.type !== "run-shown") return;
  anchor = null;
  if (!shouldSwap || requestConfig.openParts === undefined) return;
  const focused = document.activeElement?.closest?.("#queries tbody.query");
  const rows = [focused, ...document.querySelectorAll("#queries tbody.query.is-open")];
  const row = rows.find((candidate) => candidate && isInView(candidate));
  if (row) anchor = { id: row.id, top: row.getBoundingClientRect().top };
});
document.addEventListener("htmx:afterSettle", () => {
  const row = anchor && document.getElementById(anchor.id);
  if (row) scroller().scrollTop += row.getBoundingClientRect().top - anchor.top;
  anchor = null;
});

/** What scrolls: the list beside the tune pane, or the page on a narrow screen. */
function scroller() {
  const content = document.getElementById("content");
  return content.scrollHeight > content.clientHeight && getComputedStyle(content).overflowY !== "visible"
    ? content
    : document.scrollingElement;
}

// ---- back to the list, or a reload: it is scrolled as it was. The browser does that for a page, not for a part of it.
const scrollKey = () => `list scroll ${location.pathname}`;
window.addEventListener("pagehide", () => {
  const content = document.getElementById("content");
  sessionStorage.setItem(scrollKey(), JSON.stringify([location.search, content.scrollTop]));
});
if (["back_forward", "reload"].includes(performance.getEntriesByType("navigation")[0]?.type)) {
  const [search, top] = JSON.parse(sessionStorage.getItem(scrollKey()) ?? "[]");
  if (search === location.search) document.getElementById("content").scrollTop = top;
}

// ---- the row of an opened query stays in sight while its results scroll; another page of the list begins at its top
function stick() {
  const head = document.querySelector("table.queries thead th");
  if (!head) return;
  const line = window.getComputedStyle(head).position === "sticky" ? head.getBoundingClientRect().bottom : 0;
  for (const query of document.querySelectorAll("tbody.query")) {
    const box = query.getBoundingClientRect();
    const isThrough = box.top < line && box.bottom > line + query.rows[0].offsetHeight;
    query.classList.toggle("is-stuck", isThrough && query.classList.contains("is-open"));
  }
}
document.addEventListener("scroll", stick, { capture: true, passive: true });
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.requestConfig?.elt.matches?.(".pager a, a.sort")) {
    const content = document.getElementById("content");
    content.scrollTop = 0;
    if (content.getBoundingClientRect().top < 0) content.scrollIntoView();
  }
  stick();
});

// ---- links to another run or attempt of this case
const LIST_PARAMETERS = ["q", "state", "tag", "sort", "page"];

function inPlace(link) {
  if (link.matches("[hx-get], [target]")) return null;
  const href = link.getAttribute("href");
  const address = new URL(href, location.href);
  if (href.startsWith("#") || address.pathname !== location.pathname || address.origin !== location.origin) return null;
  const isBack = !address.search && link.closest(".notice");
  return isBack || address.searchParams.has("run") || address.searchParams.has("attempt") ? address : null;
}

function addListParameters(address) {
  const shown = new URL(location.href).searchParams;
  for (const name of LIST_PARAMETERS) if (shown.has(name)) address.searchParams.set(name, shown.get(name));
}

function show(address, runIsAsked) {
  const attempt = document.getElementById("tune-parent")?.value;
  const wanted = address.searchParams.get("attempt");
  const isOther = wanted !== null && wanted !== attempt;
  addListParameters(address);
  const path = address.pathname + address.search;
  const head = runIsAsked ? ["#queries", "#list-run", "#export-list"] : [];
  const tune = isOther ? ["#tune"] : ["#tune-header", "#attempts"];
  const again = () => show(address, runIsAsked);
  window.htmx.ajax("GET", path, {
    source: "#case-score",
    target: "#case-score",
    select: "#case-score",
    selectOOB: [...head, ...tune].join(","),
    swap: "outerHTML",
    push: path,
    event: runIsAsked ? new CustomEvent("run-shown", { detail: { again } }) : undefined,
  });
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  const isPlain = !(event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
  const address = link && isPlain && !event.defaultPrevented ? inPlace(link) : null;
  if (!address) return;
  event.preventDefault();
  show(address, !link.closest(".summary, .archived li > a:first-child"));
  if (address.hash === "#tune" && document.getElementById("tune")?.getClientRects().length === 0)
    location.hash = "tune";
});

// ---- keys in the dialog of a document: j and k step through the results, digits rate; keys.js is silent while one is open
document.addEventListener("keydown", (event) => {
  const bar = document.querySelector("#dialog dialog[open] .document-bar");
  const isTyping = event.target.matches?.("input, textarea, select");
  if (!bar || isTyping || event.ctrlKey || event.metaKey || event.altKey || document.body.dataset.keys === "off")
    return;
  const rel = { j: "next", k: "prev" }[event.key];
  if (rel) bar.querySelector(`a[rel=${rel}]`)?.click();
  if (!/^\d$/.test(event.key)) return;
  const buttonTen = event.key === "0" ? bar.querySelector('[data-grade="10"]') : null;
  const grade = bar.querySelector(`[data-grade="${event.key}"]`) ?? buttonTen;
  if (grade?.getAttribute("aria-checked") === "false") grade.click();
});
