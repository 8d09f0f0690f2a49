// Draws charts with plotly: <div data-chart="…figure as JSON…" data-open-url="…">. Colours are names of custom properties: the
// colour of a trace is its meta.color, and its area has it with the opacity meta.fill; axes, grid, text and labels take those of the
// page. A click on a point with an entry id opens that query; with data-page-url, it follows that address. Buttons with data-drag in the same figure choose what dragging does: zoom, or select points with a box or a lasso. The
// entries of selected points filter the list of queries. Drawn again when the theme changes, and when the part that holds the chart is replaced.

const MAX_PICKED = 500; // as the server reads them
const CONFIG = { displayModeBar: false, responsive: true };
const probe = document.createElement("span");
probe.hidden = true;
document.body.append(probe);

/** The colour that a custom property has in the present theme. */
function colour(property) {
  probe.style.color = `var(${property})`;
  return getComputedStyle(probe).color;
}

function withAxis(axis) {
  const [line, zero, quiet] = ["--line", "--line-strong", "--ink-3"].map(colour);
  return {
    ...axis,
    gridcolor: line,
    zerolinecolor: zero,
    linecolor: line,
    tickfont: { color: quiet },
    fixedrange: false,
  };
}

function withColour(trace) {
  const main = colour(trace.meta.color);
  const area = trace.meta.fill && { fillcolor: main.replace("rgb(", "rgba(").replace(")", `, ${trace.meta.fill})`) };
  return { ...trace, ...area, marker: { ...trace.marker, color: main } };
}

function themed({ data, layout }) {
  const text = getComputedStyle(document.body);
  const edge = colour("--edge");
  return {
    data: data.map(withColour),
    layout: {
      ...layout,
      autosize: true,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: text.fontFamily, size: 12, color: colour("--ink-3") },
      hoverlabel: {
        align: "left",
        bgcolor: colour("--raised"),
        bordercolor: colour("--line-strong"),
        font: { color: colour("--ink"), size: 12 },
      },
      shapes: layout.shapes?.map((shape) => ({ ...shape, line: { ...shape.line, color: edge, dash: "dot" } })),
      xaxis: withAxis(layout.xaxis),
      yaxis: withAxis(layout.yaxis),
    },
  };
}

/** The list of queries that the entries of points belong to. */
const list = () => document.getElementById("compared-queries");

/** Loads a part of the page whose address has some parameters changed; an empty value removes one. */
function load(target, changes) {
  const url = new URL(list().dataset.listUrl, location.href);
  const here = new URL(location.href).searchParams;
  for (const [name, value] of Object.entries({ open: here.get("open"), tab: here.get("tab"), ...changes })) {
    if (value) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
  }
  history.replaceState(history.state, "", url);
  window.htmx.ajax("GET", url.href, { target, swap: "outerHTML" });
}

function pick(points) {
  const entries = [...new Set(points.map((point) => point.customdata).filter(Boolean))];
  if (entries.length > MAX_PICKED) {
    const text = `${entries.length} queries are selected, and the list shows at most ${MAX_PICKED}. Select fewer, or use its filters.`;
    document.dispatchEvent(new CustomEvent("toast", { detail: { text, level: "warning", key: "picked" } }));
  } else if (entries.length) load("#compared-queries", { only: entries.join("-") });
}

function openPoint(chart, entry) {
  if (chart.dataset.pageUrl) location.assign(chart.dataset.pageUrl + entry);
  else load("#compared-query", { open: entry });
}

function unpick() {
  if (list()?.dataset.picked) load("#compared-queries", { only: "" });
}

/** Marks the points of the queries that the list shows because they were selected. */
function withSelection(trace) {
  const picked = new Set(list()?.dataset.picked.split("-").filter(Boolean).map(Number));
  if (!picked.size || !trace.customdata) return trace;
  return { ...trace, selectedpoints: trace.customdata.flatMap((entry, index) => (picked.has(entry) ? [index] : [])) };
}

async function draw(chart) {
  const { data, layout } = themed(JSON.parse(chart.dataset.chart));
  const dragmode = chart.dataset.dragmode ?? "zoom";
  await window.Plotly.react(chart, data.map(withSelection), { ...layout, dragmode }, CONFIG);
  for (const name of ["click", "selected", "deselect"]) chart.removeAllListeners(`plotly_${name}`);
  chart.on("plotly_click", ({ points }) => points[0]?.customdata && openPoint(chart, points[0].customdata));
  chart.on("plotly_selected", (selection) => selection?.points && pick(selection.points));
  chart.on("plotly_deselect", unpick);
  chart.dataset.drawn = "";
}

function drawAll(part) {
  const inside = part.querySelectorAll?.("[data-chart]") ?? [];
  const charts = part.matches?.("[data-chart]") ? [part, ...inside] : [...inside];
  if (window.Plotly) charts.forEach(draw);
  else if (charts.length) loadPlotly();
}

/** Loads the script, which the page only names as long as it has no chart. */
function loadPlotly() {
  const script = document.querySelector("script[data-src*=plotly]");
  if (!script || script.src) return;
  script.addEventListener("load", () => drawAll(document));
  script.src = script.dataset.src;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-drag]");
  const chart = button?.closest("figure").querySelector("[data-drawn]");
  if (!chart) return;
  for (const sibling of button.parentElement.children) sibling.setAttribute("aria-pressed", String(sibling === button));
  chart.dataset.dragmode = button.dataset.drag;
  window.Plotly.relayout(chart, { dragmode: button.dataset.drag });
});
document.addEventListener("themechange", () => drawAll(document));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawAll(document));
document.addEventListener("htmx:load", (event) => drawAll(event.detail.elt));
drawAll(document);
