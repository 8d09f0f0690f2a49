// The scorers' pages.
//   Ctrl S                 presses [data-save]; Ctrl Enter presses [data-run]
//   <section data-tabs>    tabs: each button[role=tab] shows the panel that it controls; arrows move between them
//   <nav class="menu">     is scrolled to the scorer whose page this is
//   <form data-guard>      asks before a page with unsaved text is left, and shows [data-unsaved]
// A preview result with data-script-line marks the line in the editor: event "codeerror" on document.

document.addEventListener(
  "keydown",
  (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    const selector = { s: "[data-save]", enter: "[data-run]" }[event.key.toLowerCase()];
    const button = selector && document.querySelector(selector);
    if (!button) return;
    event.preventDefault();
    event.stopPropagation();
    if (!button.disabled) button.click();
  },
  true,
); // before the editor, which knows these keys too

// ---- the list at the side
const current = document.querySelector(".menu [aria-current]");
if (current) {
  const list = current.closest(".menu");
  const below = current.offsetTop - list.offsetTop - list.clientHeight + 2 * current.offsetHeight;
  if (below > 0) list.scrollTop = below + list.clientHeight / 2;
}

// ---- tabs
function choose(tab) {
  for (const other of tab.closest("[role=tablist]").querySelectorAll("[role=tab]")) {
    const chosen = other === tab;
    other.ariaSelected = String(chosen);
    other.tabIndex = chosen ? 0 : -1;
    document.getElementById(other.getAttribute("aria-controls")).classList.toggle("is-shown", chosen);
  }
}

document.addEventListener("click", (event) => {
  const tab = event.target.closest("[data-tabs] [role=tab]");
  if (tab) choose(tab);
});
document.addEventListener("keydown", (event) => {
  const tab = event.target.closest?.("[data-tabs] [role=tab]");
  const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!tab || !way) return;
  const tabs = [...tab.closest("[role=tablist]").querySelectorAll("[role=tab]")];
  const next = tabs[(tabs.indexOf(tab) + way + tabs.length) % tabs.length];
  choose(next);
  next.focus();
});

// ---- unsaved text
const PREVIEW_FIELDS = new Set([
  "on",
  "grades",
  "known",
  "case",
  "find",
  "query",
  "compare",
  "primary",
  "csrfmiddlewaretoken",
  "do",
]);
const guarded = document.querySelector("form[data-guard]");
const text = (form) => JSON.stringify([...new FormData(form)].filter(([name]) => !PREVIEW_FIELDS.has(name)));

if (guarded) {
  const refused = guarded.querySelector("[aria-invalid=true], .hint.bad, .notice.bad");
  const saved = refused ? "" : text(guarded);
  let leaving = false;
  const look = () => {
    const unsaved = text(guarded) !== saved;
    guarded.querySelector("[data-unsaved]").hidden = !unsaved;
    return unsaved;
  };
  for (const name of ["input", "change", "htmx:afterSettle"]) document.addEventListener(name, look);
  guarded.addEventListener("submit", () => {
    leaving = true;
  });
  addEventListener("pageshow", () => {
    leaving = false;
  });
  addEventListener("beforeunload", (event) => {
    if (!leaving && look()) event.preventDefault();
  });
  look();
}

// ---- the preview result; after a change of the scorer or of its source it is dimmed, and its error is no longer marked
const preview = document.getElementById("preview-result");
const note = document.getElementById("preview-outdated");

function setOutdated(isOutdated) {
  preview.classList.toggle("is-outdated", isOutdated);
  note.hidden = !isOutdated;
}

function becomesOutdated(event) {
  const form = document.querySelector("[data-run]")?.form;
  if (!preview?.childElementCount || !form?.contains(event.target) || preview.classList.contains("is-outdated")) return;
  if (event.target.name === "primary") return; // says where the scorer is used, not what it gives
  setOutdated(true);
  document.dispatchEvent(new CustomEvent("codeerror", { detail: null }));
}
document.addEventListener("input", becomesOutdated);

document.addEventListener("htmx:load", (event) => {
  const part = event.detail.elt;
  const at = part.matches?.("[data-script-line]") ? part : part.querySelector?.("[data-script-line]");
  const result = part.closest?.("#preview-result");
  if (!result) return;
  setOutdated(false);
  const fault = at && {
    line: Number(at.dataset.scriptLine),
    column: Number(at.dataset.scriptColumn) || 1,
    text: at.dataset.scriptText,
  };
  document.dispatchEvent(new CustomEvent("codeerror", { detail: fault }));
});
