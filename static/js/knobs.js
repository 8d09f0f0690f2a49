// Knobs (_ui/knob.html): keeps slider and number equal, says what changed since the last run, and follows the template. A value that
// is no number is a text, which has no slider.
//   [data-knobs]             around template and knobs; [data-knobs-changed] in it says how many values changed
//   [data-knob-list]         holds the knobs; a name typed into textarea[name=template] adds one, from <template data-new-knob>
//   [data-knob="name"]       a knob; hidden and not sent while the template does not contain ##name##

const SLOT = /#\$[\w.]+(?:\|[^#&"\\\r\n]*)?##|##(\w+)##/g;
const MAX_KNOBS = 50;

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i; // as `read_knob_value` reads it
export const fieldOf = (knob) => knob.querySelector("input[type=text]");
const sliderOf = (knob) => knob.querySelector("input[type=range]");

/** The value of a knob as it is compared: a number, or a text; NaN while nothing is entered. */
export function knobValue(text) {
  const entered = text.trim();
  return NUMBER.test(entered) || !entered ? Number.parseFloat(entered) : entered;
}

const readValue = (knob) => knobValue(fieldOf(knob).value);

function showChange(knob) {
  knob.classList.toggle("is-text", typeof readValue(knob) === "string");
  const was = knob.dataset.was;
  if (was === undefined) return;
  const changed = readValue(knob) !== knobValue(was);
  knob.classList.toggle("is-changed", changed);
  knob.querySelector(".run-value").textContent = changed ? `was ${was}` : "";
}

function showCount(knobs) {
  const count = knobs.querySelectorAll("[data-knob].is-changed:not([hidden])").length;
  const label = knobs.querySelector("[data-knobs-changed]");
  if (label) label.textContent = count ? `${count} changed` : "";
}

function addKnob(list, name) {
  const template = list.querySelector("template[data-new-knob]");
  const knob = template.content.firstElementChild.cloneNode(true);
  const field = fieldOf(knob);
  knob.dataset.knob = name;
  field.id = `knob-${name}`;
  field.name = `knob.${name}`;
  sliderOf(knob).ariaLabel = `${name}, slider`;
  const label = knob.querySelector("label");
  label.htmlFor = field.id;
  label.textContent = name;
  template.before(knob);
}

function followTemplate(knobs) {
  const list = knobs.querySelector("[data-knob-list]");
  const field = knobs.querySelector("textarea[name=template]");
  if (!list || !field || field.matches(":disabled")) return;
  const names = new Set([...field.value.matchAll(SLOT)].map((match) => match[1]).filter(Boolean));
  const shown = new Set([...list.querySelectorAll("[data-knob]")].map((knob) => knob.dataset.knob));
  for (const name of [...names].slice(0, MAX_KNOBS)) if (!shown.has(name)) addKnob(list, name);
  for (const knob of list.querySelectorAll("[data-knob]")) {
    const isUsed = names.has(knob.dataset.knob);
    knob.hidden = !isUsed;
    for (const input of [fieldOf(knob), sliderOf(knob)]) input.disabled = !isUsed;
  }
  list.hidden = names.size === 0;
  showCount(knobs);
}

function setUp(part) {
  const selector = "[data-knobs]";
  for (const knobs of part.matches?.(selector) ? [part] : (part.querySelectorAll?.(selector) ?? [])) {
    for (const knob of knobs.querySelectorAll("[data-knob]")) showChange(knob);
    followTemplate(knobs);
    showCount(knobs);
  }
}

document.addEventListener("input", (event) => {
  const knobs = event.target.closest("[data-knobs]");
  const knob = event.target.closest("[data-knob]");
  if (!knobs) return;
  if (event.target.matches("textarea[name=template]")) followTemplate(knobs);
  if (!knob) return;
  if (event.target === sliderOf(knob)) {
    fieldOf(knob).value = event.target.value;
  } else if (Number.isFinite(readValue(knob))) {
    // A number beyond the slider's ends is allowed: the slider stretches to it.
    const slider = sliderOf(knob);
    const value = readValue(knob);
    if (value > Number(slider.max)) slider.max = String(value);
    if (value < Number(slider.min)) slider.min = String(value);
    slider.value = String(value);
  }
  showChange(knob);
  showCount(knobs);
});
// ↑ and ↓ step a number, as they do in a field for numbers: by the step of the slider, or a hundredth of its length. ⇧: ten times.
document.addEventListener("keydown", (event) => {
  const knob = event.target.closest("[data-knob]");
  if (!["ArrowUp", "ArrowDown"].includes(event.key) || event.ctrlKey || event.altKey || event.metaKey) return;
  if (!knob || event.target !== fieldOf(knob) || event.target.readOnly || !Number.isFinite(readValue(knob))) return;
  event.preventDefault();
  const slider = sliderOf(knob);
  const step = Number(slider.step) || (Number(slider.max) - Number(slider.min)) / 100;
  const steps = (event.key === "ArrowUp" ? 1 : -1) * (event.shiftKey ? 10 : 1);
  event.target.value = String(Number((readValue(knob) + steps * step).toPrecision(12)));
  event.target.dispatchEvent(new Event("input", { bubbles: true }));
});
// Ranges that have been saved in their dialog: { ranges: { name: [lowest, highest, step] } }.
document.addEventListener("knob-ranges", (event) => {
  for (const knob of document.querySelectorAll("[data-knob]")) {
    const range = event.detail.ranges?.[knob.dataset.knob];
    if (!range) continue;
    const [slider, value] = [sliderOf(knob), readValue(knob)];
    const [lowest, highest, step] = range;
    slider.step = String(step);
    slider.min = String(Number.isFinite(value) ? Math.min(lowest, value) : lowest);
    slider.max = String(Number.isFinite(value) ? Math.max(highest, value) : highest);
    if (Number.isFinite(value)) slider.value = String(value);
  }
});
document.addEventListener("htmx:load", (event) => setUp(event.detail.elt));
setUp(document);
