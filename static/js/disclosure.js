// <a data-unfold hx-get="…" hx-target="#part"> fetches a part once it is pressed; pressed again, it takes the part away.

document.addEventListener("htmx:beforeRequest", (event) => {
  const opener = event.detail.elt;
  const part = event.detail.target;
  if (!opener.matches?.("[data-unfold]") || !part?.hasChildNodes()) return;
  event.preventDefault();
  part.replaceChildren();
  opener.setAttribute("aria-expanded", "false");
});
document.addEventListener("htmx:afterRequest", (event) => {
  const opener = event.detail.elt;
  if (opener.matches?.("[data-unfold]") && event.detail.successful) opener.setAttribute("aria-expanded", "true");
});
