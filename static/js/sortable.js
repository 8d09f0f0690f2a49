// Changes the manual order of the queries: table[data-order], which is present while the list is in that order.
//   tr [data-drag]          the handle of a row: drag it between two others, with a mouse, a pen or a finger
//   tbody[data-move-url]    where a move is posted to: before=ID, after=ID or steps=N; the answer is the list
// The keys come as events from js/keys.js: "key:up" and "key:down" on the row.

const EDGE = 48; // pixels from the edge of what scrolls, where it scrolls along
let drag = null;

const list = () => document.querySelector("table[data-order]");
const rowsOf = (table) => [...table.querySelectorAll("tbody[data-move-url]")];

function post(row, values) {
  // The response is the list with the same filter, page and run: they are in its own address.
  const { search } = new URL(document.getElementById("queries").getAttribute("hx-get"), location.href);
  window.htmx.ajax("POST", row.dataset.moveUrl + search, {
    source: "#queries",
    target: "#queries",
    swap: "outerHTML",
    values,
  });
}

function scrolls(node) {
  for (let at = node.parentElement; at; at = at.parentElement) {
    if (at.scrollHeight > at.clientHeight + 1 && /auto|scroll/.test(window.getComputedStyle(at).overflowY)) return at;
  }
  return document.scrollingElement;
}

// The gap nearest to the pointer: the row below it, or null for the end of the list.
function below(rows, y) {
  return (
    rows.find((row) => {
      const box = row.rows[0].getBoundingClientRect();
      const all = row.getBoundingClientRect();
      return y < (row === rows.at(-1) ? box.top + box.height / 2 : (all.top + Math.max(all.bottom, box.bottom)) / 2);
    }) ?? null
  );
}

function show(next) {
  for (const row of drag.rows) row.classList.remove("drop-before", "drop-after");
  if (next) next.classList.add("drop-before");
  else drag.rows.at(-1)?.classList.add("drop-after");
}

function follow() {
  if (!drag) return;
  const box =
    drag.scroller === document.scrollingElement
      ? { top: 0, bottom: innerHeight }
      : drag.scroller.getBoundingClientRect();
  const by = drag.y < box.top + EDGE ? -10 : drag.y > box.bottom - EDGE ? 10 : 0;
  if (drag.moved && by) drag.scroller.scrollTop += by;
  if (drag.moved) show(below(drag.rows, drag.y));
  drag.frame = requestAnimationFrame(follow);
}

function end(dropped) {
  if (!drag) return;
  const { row, rows, moved, y, frame } = drag;
  cancelAnimationFrame(frame);
  const next = below(rows, y);
  for (const row of rows) row.classList.remove("drop-before", "drop-after", "is-dragged");
  document.body.classList.remove("dragging");
  drag = null;
  if (!dropped || !moved || next === row) return;
  if (next && next === rows[rows.indexOf(row) + 1]) return;
  if (!next && row === rows.at(-1)) return;
  if (next) post(row, { before: next.dataset.entry });
  else post(row, { after: rows.at(-1).dataset.entry });
}

document.addEventListener("pointerdown", (event) => {
  const handle = event.target.closest?.("table[data-order] [data-drag]");
  if (!handle || event.button !== 0) return;
  const row = handle.closest("tbody");
  event.preventDefault();
  handle.setPointerCapture(event.pointerId);
  drag = { row, rows: rowsOf(list()), y: event.clientY, from: event.clientY, moved: false, scroller: scrolls(row) };
  drag.frame = requestAnimationFrame(follow);
});
document.addEventListener("pointermove", (event) => {
  if (!drag) return;
  drag.y = event.clientY;
  if (drag.moved || Math.abs(drag.y - drag.from) < 4) return;
  drag.moved = true;
  drag.row.classList.add("is-dragged");
  document.body.classList.add("dragging");
});
document.addEventListener("pointerup", () => end(true));
document.addEventListener("pointercancel", () => end(false));
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && drag) end(false);
});

for (const [name, steps] of [
  ["key:up", -1],
  ["key:down", 1],
]) {
  document.addEventListener(name, (event) => {
    const row = event.target.closest?.("table[data-order] tbody[data-move-url]");
    if (row) post(row, { steps });
  });
}
