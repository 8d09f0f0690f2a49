// Draws charts with plotly: <div data-chart="…figure as JSON…" data-open-url="…">. Colours are names of custom properties: the
// colour of a trace is its meta.color; axes, grid, text and labels take those of the page. A click on a point with an entry id opens
// that query. Drawn again when the theme changes, and when the part that holds the chart is replaced.

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

function themed({ data, layout }) {
  const text = getComputedStyle(document.body);
  const edge = colour("--edge");
  return {
    data: data.map((trace) => ({ ...trace, marker: { ...trace.marker, color: colour(trace.meta.color) } })),
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

function openQuery(chart, entry) {
  const url = `${chart.dataset.openUrl}&open=${entry}`;
  history.replaceState(history.state, "", url);
  window.htmx.ajax("GET", url, { target: "#compared-query", swap: "outerHTML" });
}

async function draw(chart) {
  const { data, layout } = themed(JSON.parse(chart.dataset.chart));
  await window.Plotly.react(chart, data, layout, CONFIG);
  chart.removeAllListeners("plotly_click");
  chart.on("plotly_click", ({ points }) => points[0]?.customdata && openQuery(chart, points[0].customdata));
  chart.dataset.drawn = "";
}

function drawAll(part) {
  if (!window.Plotly) return;
  const charts = part.querySelectorAll?.("[data-chart]") ?? [];
  for (const chart of part.matches?.("[data-chart]") ? [part, ...charts] : charts) draw(chart);
}

document.addEventListener("themechange", () => drawAll(document));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawAll(document));
document.addEventListener("htmx:load", (event) => drawAll(event.detail.elt));
drawAll(document);
