// The workbench: when the list of queries is reloaded during a run, opened queries stay open.

document.addEventListener("htmx:configRequest", (event) => {
  if (event.detail.elt.id !== "queries") return;
  const open = [...document.querySelectorAll("#queries input[name=open]")].map((input) => input.value);
  const address = new URL(event.detail.path, location.href);
  for (const id of open.slice(0, 5)) address.searchParams.append("open", id);
  event.detail.path = address.pathname + address.search;
});
