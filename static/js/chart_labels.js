// The label of a history chart: says the score of the run that is nearest to the pointer, or in focus.
// <svg class="chart"> with links around its dots, each with an aria-label; the label is put into the <figure> around it.

const dots = (chart) => [...chart.querySelectorAll("a[aria-label] > circle")];

function labelOf(figure) {
  let label = figure.querySelector(".chart-label");
  if (!label) {
    label = Object.assign(document.createElement("div"), { className: "chart-label", hidden: true });
    label.setAttribute("aria-hidden", "true"); // the links say the same
    figure.append(label);
    for (const title of figure.querySelectorAll("circle > title")) title.remove(); // the browser would show it as well
  }
  return label;
}

function show(dot) {
  const figure = dot.closest("figure");
  const label = labelOf(figure);
  label.textContent = dot.parentElement.getAttribute("aria-label");
  label.hidden = false;
  const frame = figure.getBoundingClientRect();
  const box = dot.getBoundingClientRect();
  const left = box.left + box.width / 2 - frame.left - label.offsetWidth / 2;
  label.style.left = `${Math.max(0, Math.min(left, frame.width - label.offsetWidth))}px`;
}

function hide(figure) {
  const label = figure?.querySelector(".chart-label");
  if (label) label.hidden = true;
}

document.addEventListener("pointermove", (event) => {
  const figure = event.target.closest?.("figure");
  const chart = figure?.querySelector("svg.chart");
  if (!chart) return;
  const center = (dot) => dot.getBoundingClientRect().left + dot.getBoundingClientRect().width / 2;
  const distance = (dot) => Math.abs(center(dot) - event.clientX);
  const [nearest] = dots(chart).sort((one, other) => distance(one) - distance(other));
  if (nearest) show(nearest);
});
document.addEventListener("pointerout", (event) => {
  const figure = event.target.closest?.("figure");
  if (figure && !figure.contains(event.relatedTarget)) hide(figure);
});
document.addEventListener("focusin", (event) => {
  const dot = event.target.closest?.("svg.chart a[aria-label]")?.querySelector("circle");
  if (dot?.closest("figure")) show(dot);
});
document.addEventListener("focusout", (event) => hide(event.target.closest?.("figure")));
