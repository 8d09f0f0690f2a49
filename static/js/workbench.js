// The workbench: when the list of queries is reloaded during a run, opened queries stay open, and the focus returns to the button
// that started the run.

document.addEventListener("htmx:configRequest", (event) => {
  if (event.detail.elt.id !== "queries") return;
  const open = [...document.querySelectorAll("#queries input[name=open]")].map((input) => input.value);
  const address = new URL(event.detail.path, location.href);
  for (const id of open.slice(0, 5)) address.searchParams.append("open", id);
  event.detail.path = address.pathname + address.search;
});

let startedByButton = false;
document.addEventListener("htmx:beforeSwap", () => {
  if (document.activeElement?.id === "run-button") startedByButton = true;
});
document.addEventListener("htmx:afterSettle", () => {
  const button = document.getElementById("run-button");
  if (!button || !startedByButton) return;
  startedByButton = false;
  if (!document.activeElement || document.activeElement === document.body) button.focus({ preventScroll: true });
});
