// A form with a file that is being sent or read: its buttons wait, and a bar says that something happens.
//   [data-upload]   a form; while its file is being sent, the bar shows how much of it has arrived

function begin(form) {
  if (form.querySelector(".upload-bar")) return;
  const bar = document.createElement("progress");
  bar.className = "progress upload-bar";
  bar.setAttribute("aria-label", "The file is being read");
  form.append(bar);
  for (const button of buttonsOf(form)) button.disabled = true;
}

function end(form) {
  form.querySelector(".upload-bar")?.remove();
  for (const button of buttonsOf(form)) button.disabled = false;
}

function buttonsOf(form) {
  return [...form.elements].filter((control) => control.localName === "button");
}

document.addEventListener("submit", (event) => {
  const form = event.target.closest("[data-upload]");
  if (form && !event.defaultPrevented) setTimeout(begin, 0, form); // the button that was pressed is sent along
});
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("[data-upload]")) end(form); // back to a page that was kept
});
document.addEventListener("htmx:beforeSend", (event) => {
  const form = event.target.closest?.("[data-upload]");
  if (form) begin(form);
});
document.addEventListener("htmx:afterRequest", (event) => {
  const form = event.detail.elt.closest?.("[data-upload]");
  if (form) end(form);
});
document.addEventListener("htmx:xhr:progress", (event) => {
  const bar = event.target.closest?.("[data-upload]")?.querySelector(".upload-bar");
  const { loaded, total } = event.detail;
  if (!bar) return;
  if (loaded < total) bar.value = loaded / total;
  else bar.removeAttribute("value"); // it has arrived, and is read
});
