// The label of a history chart: says the score of the run that is nearest to the pointer, or in focus.
// <svg class="chart"> in a <figure>, with links around its dots, each with an aria-label.

const dots = (chart) => [...chart.querySelectorAll("a[aria-label] > circle")];

function labelOf(chart) {
  const present = chart.querySelector(".chart-label");
  if (present) return present;
  const create = (name) => document.createElementNS("http://www.w3.org/2000/svg", name);
  const label = create("g");
  label.classList.add("chart-label");
  label.setAttribute("aria-hidden", "true"); // the links say the same
  label.append(create("rect"), create("text"));
  chart.append(label);
  for (const title of chart.querySelectorAll("circle > title")) title.remove(); // the browser would show it as well
  return label;
}

function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
}

function show(dot) {
  const chart = dot.closest("svg.chart");
  const label = labelOf(chart);
  const [box, text] = label.children;
  text.textContent = dot.parentElement.getAttribute("aria-label");
  label.classList.add("is-shown");
  const frame = chart.getBoundingClientRect();
  const dotBox = dot.getBoundingClientRect();
  const width = text.getComputedTextLength() + 16;
  const center = dotBox.left + dotBox.width / 2 - frame.left;
  const left = Math.max(0, Math.min(center - width / 2, frame.width - width));
  set(box, { x: left, y: -4, width, height: 20, rx: 5 });
  set(text, { x: left + 8, y: 10 });
}

function hide(figure) {
  figure?.querySelector(".chart-label")?.classList.remove("is-shown");
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
