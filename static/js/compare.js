// The comparison page: the row of the query that is open is marked and in view, and so are both its result lists.

function markRow() {
  const entry = document.getElementById("compared-query")?.dataset.entry;
  for (const row of document.querySelectorAll("#compared-queries tbody tr")) {
    const isOpen = row.id === `compared-${entry}`;
    if (isOpen) row.setAttribute("aria-selected", "true");
    else row.removeAttribute("aria-selected");
  }
}

/** Scrolls the list to the row of the opened query, without moving the page. */
function showRow() {
  const row = document.querySelector("#compared-queries tr[aria-selected=true]");
  const list = row?.closest(".compared-scroll");
  if (!list) return;
  const [{ top, bottom }, box] = [row.getBoundingClientRect(), list.getBoundingClientRect()];
  if (bottom > box.bottom || top < box.top + row.offsetHeight) list.scrollTop += top - box.top - box.height / 3;
}

/** A part of the page that is loaded keeps what the address says of the others: the opened query, the tab. */
document.addEventListener("htmx:configRequest", ({ detail }) => {
  const [url, here] = [new URL(detail.path, location.href), new URL(location.href).searchParams];
  const part = detail.elt.closest("#compared-queries, #compared-query, #compared-tabs");
  if (!part || detail.verb !== "get" || url.pathname !== location.pathname) return;
  const kept = part.id === "compared-tabs" ? ["open"] : ["tab"];
  if (part.id === "compared-queries" && !detail.elt.matches("[data-open-query]")) kept.push("open");
  for (const name of kept)
    if (here.has(name)) url.searchParams.set(name, here.get(name));
    else url.searchParams.delete(name);
  detail.path = url.pathname + url.search;
});

document.addEventListener("htmx:afterSettle", (event) => {
  markRow();
  if (event.detail.elt?.id !== "compared-query") return;
  document.getElementById("compared-sides")?.scrollIntoView({ block: "nearest" });
});
showRow();
