// The comparison page: the row of the query that is open is marked.

document.addEventListener("htmx:afterSettle", () => {
  const entry = document.getElementById("compared-query")?.dataset.entry;
  for (const row of document.querySelectorAll("#compared-queries tbody tr")) {
    const isOpen = row.id === `compared-${entry}`;
    if (isOpen) row.setAttribute("aria-selected", "true");
    else row.removeAttribute("aria-selected");
  }
});
