// Knobs (_ui/knob.html): slider and number are one value; "was 18" when it moved since the last run, "as run" when not.
// [data-knobs-moved] anywhere in the same [data-knobs] says how many moved.

const numberOf = (knob) => knob.querySelector("input[type=number]");
const sliderOf = (knob) => knob.querySelector("input[type=range]");

function show(knob) {
  const was = knob.dataset.was;
  const value = numberOf(knob).valueAsNumber;
  const moved = was !== undefined && value !== Number(was);
  knob.classList.toggle("moved", moved);
  if (was !== undefined) knob.querySelector(".was").textContent = moved ? `was ${was}` : "as run";
}

function count(knob) {
  const all = knob.closest("[data-knobs]");
  const place = all?.querySelector("[data-knobs-moved]");
  if (!place) return;
  const moved = all.querySelectorAll("[data-knob].moved").length;
  place.textContent = moved ? `${moved} moved` : "";
}

function setUp(part) {
  const inside = [...(part.querySelectorAll?.("[data-knob]") ?? [])];
  for (const knob of part.matches?.("[data-knob]") ? [part, ...inside] : inside) {
    show(knob);
    count(knob);
  }
}

document.addEventListener("input", (event) => {
  const knob = event.target.closest("[data-knob]");
  if (!knob) return;
  if (event.target === sliderOf(knob)) {
    numberOf(knob).value = event.target.value;
  } else if (Number.isFinite(numberOf(knob).valueAsNumber)) {
    // A number beyond the slider's ends is allowed: the slider stretches to it.
    const slider = sliderOf(knob);
    const value = numberOf(knob).valueAsNumber;
    if (value > Number(slider.max)) slider.max = String(value);
    if (value < Number(slider.min)) slider.min = String(value);
    slider.value = String(value);
  }
  show(knob);
  count(knob);
});
document.addEventListener("htmx:load", (event) => setUp(event.detail.elt));
setUp(document);
