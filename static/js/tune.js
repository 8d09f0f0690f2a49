// The tune pane: what was edited is a draft, which this tab keeps until it is run or discarded; a run leaves the page as it is.
//   <form data-tune>          its controls have the values of the attempt in data-base, knobs in data-was
//   #tune-header              data-title, data-draft-title, data-run, data-run-draft: what it and [data-run-label] say
//   [data-draft]              shown while there is a draft; [data-discard] takes it back; [data-saved] is shown otherwise
//   [data-attempt="8"]        in the tree: marked if it has a draft
// Event "run-started" on the page {attempt}: a run has begun; what was sent is now that attempt.

import { fieldOf, knobValue } from "./knobs.js"; // first: a restored template needs its knobs

const PREFIX = "relevancy draft";
const SETTINGS = ["template", "endpoint", "fields", "depth", "escape", "name"];

const form = () => document.querySelector("form[data-tune]");
const parentOf = (tune) => tune.elements.parent.value;
const keyOf = (number) => `${PREFIX} ${location.pathname} ${number}`;
const knobsOf = (tune) => [...tune.querySelectorAll("[data-knob]:not([hidden])")];

function textOf(field) {
  if (field.type === "checkbox") return field.checked ? "1" : "";
  return field.name === "fields" ? field.value.trim().split(/\s+/).join(" ") : field.value;
}

function setValue(field, value) {
  if (field.type === "checkbox") field.checked = value === "1";
  else field.value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

function values(tune) {
  const settings = SETTINGS.map((name) => [name, tune.elements[name]]).filter(([, field]) => field);
  return {
    ...Object.fromEntries(settings.map(([name, field]) => [name, textOf(field)])),
    knobs: Object.fromEntries(knobsOf(tune).map((knob) => [knob.dataset.knob, fieldOf(knob).value])),
  };
}

/** Whether the next attempt would differ; a name alone makes none. */
function isEdited(tune) {
  if (tune.elements.template.matches(":disabled")) return false;
  const settings = SETTINGS.filter((name) => name !== "name").map((name) => tune.elements[name]);
  return (
    settings.some((field) => field && textOf(field) !== field.dataset.base) ||
    knobsOf(tune).some(
      (knob) => knob.dataset.was === undefined || knobValue(fieldOf(knob).value) !== knobValue(knob.dataset.was),
    )
  );
}

// ---- the draft of each attempt, kept by this tab
let isKept = true; // false if the browser could not store it

function keepDraft(tune) {
  try {
    if (isEdited(tune) || tune.elements.name?.value) {
      sessionStorage.setItem(keyOf(parentOf(tune)), JSON.stringify({ ...values(tune), edited: isEdited(tune) }));
    } else sessionStorage.removeItem(keyOf(parentOf(tune)));
    isKept = true;
  } catch {
    isKept = false;
  }
}

function stored(number) {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(number)));
  } catch {
    return null;
  }
}

function fill(tune, draft) {
  for (const name of SETTINGS) {
    const field = tune.elements[name];
    if (field && typeof draft[name] === "string" && textOf(field) !== draft[name]) setValue(field, draft[name]);
  }
  for (const knob of knobsOf(tune)) {
    const value = draft.knobs?.[knob.dataset.knob];
    if (value !== undefined && fieldOf(knob).value !== value) setValue(fieldOf(knob), value);
  }
}

function baseOf(tune) {
  const knobs = [...tune.querySelectorAll("[data-knob]")].filter((knob) => knob.dataset.was !== undefined);
  return {
    ...Object.fromEntries(SETTINGS.map((name) => [name, tune.elements[name]?.dataset.base ?? ""])),
    knobs: Object.fromEntries(knobs.map((knob) => [knob.dataset.knob, knob.dataset.was])),
  };
}

function show(tune) {
  const header = document.getElementById("tune-header");
  const edited = isEdited(tune);
  const { title, draftTitle, run, runDraft } = header.dataset;
  header.querySelector("h2").textContent = edited ? draftTitle : title;
  for (const part of header.querySelectorAll("[data-draft]")) part.hidden = !edited;
  for (const part of header.querySelectorAll("[data-saved]")) part.hidden = edited;
  for (const label of document.querySelectorAll("[data-run-label]")) label.textContent = edited ? runDraft : run;
  for (const node of document.querySelectorAll(".tree [data-attempt]")) {
    const isDraft = node.dataset.attempt === parentOf(tune) ? edited : stored(node.dataset.attempt)?.edited;
    node.classList.toggle("has-draft", Boolean(isDraft));
  }
}

function follow() {
  const tune = form();
  if (!tune) return;
  keepDraft(tune);
  show(tune);
}

function open(tune) {
  const draft = stored(parentOf(tune));
  const isRefused = tune.querySelector("[aria-invalid=true], .hint.bad, .notice.bad");
  if (draft && !isRefused && !tune.elements.template.matches(":disabled")) fill(tune, draft);
  show(tune);
}

function toast(detail) {
  document.dispatchEvent(new CustomEvent("toast", { detail }));
}

document.addEventListener("input", (event) => event.target.closest("form[data-tune]") && follow());
document.addEventListener("change", (event) => event.target.closest("form[data-tune]") && follow());
document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-discard]")) return;
  const tune = form();
  const draft = values(tune);
  fill(tune, baseOf(tune));
  follow();
  const undo = () => {
    if (form()) fill(form(), draft);
    follow();
  };
  toast({ text: "The draft is discarded", undo });
});

// ---- a run
let sent = null;

function accept(tune, attempt) {
  for (const name of SETTINGS.slice(0, -1)) {
    if (tune.elements[name]) tune.elements[name].dataset.base = sent[name];
  }
  for (const knob of tune.querySelectorAll("[data-knob]")) {
    const value = sent.knobs[knob.dataset.knob];
    if (value === undefined) continue;
    knob.dataset.was = value;
    fieldOf(knob).dispatchEvent(new Event("input", { bubbles: true }));
  }
  if (tune.elements.name?.value === sent.name && (sent.parent !== attempt || sent.edited))
    tune.elements.name.value = "";
  for (const note of tune.querySelectorAll(".hint.bad, .notice.bad")) note.remove();
  for (const field of tune.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  tune.elements.template.dispatchEvent(new CustomEvent("codebase", { bubbles: true }));
}

document.addEventListener("htmx:configRequest", (event) => {
  const tune = event.detail.elt;
  if (!tune.matches?.("form[data-tune]")) return;
  sent = { ...values(tune), parent: parentOf(tune), edited: isEdited(tune) };
});
document.addEventListener("run-started", (event) => {
  const tune = form();
  if (!tune || !sent) return;
  sessionStorage.removeItem(keyOf(sent.parent));
  accept(tune, String(event.detail.attempt));
  sent = null;
  follow();
});

// ---- leaving: links and forms of this page lead to where the draft is found again, in this tab
let isLeaving = false;
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (link && link.origin === location.origin && !link.target) isLeaving = true;
  setTimeout(() => {
    isLeaving = false;
  }, 2000);
});
document.addEventListener("submit", () => {
  isLeaving = true;
});
addEventListener("beforeunload", (event) => {
  const tune = form();
  if (tune && isEdited(tune) && !(isLeaving && isKept)) event.preventDefault();
});

document.addEventListener("htmx:load", (event) => {
  const part = event.detail.elt;
  const tune = part.matches?.("form[data-tune]") ? part : part.querySelector?.("form[data-tune]");
  if (tune) open(tune);
});
document.addEventListener("htmx:afterSettle", () => form() && show(form()));
if (form()) open(form());
