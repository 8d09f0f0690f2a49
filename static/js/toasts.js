// Toasts at the bottom left. They come with the page, by an out-of-band swap into #toasts, by the answer header
// HX-Trigger: {"toast": {"text": "…", "level": "error", "undo": "/address"}}, or by an event "toast" with that detail, where undo
// may also be a function. link {href, text} is a button that opens a new tab.
// With a key, a toast replaces the one of the same key; without a text it only takes that one away.
// 5 seconds; with Undo they stay while the pointer or the focus is on them; errors stay until they are closed.

const list = document.getElementById("toasts");
const VISIBLE_MILLISECONDS = 5000;

function arm(toast) {
  if (toast.dataset.toast === "error" || toast.dataset.toast === "warning") return;
  const hold = () => toast.matches(":hover") || toast.contains(document.activeElement);
  const end = () => (hold() ? setTimeout(end, 1000) : toast.remove());
  setTimeout(end, VISIBLE_MILLISECONDS);
}

function show({ text, level = "info", undo = "", key = text, link = null }) {
  [...list.children].find((toast) => toast.dataset.key === key)?.remove();
  if (!text) return;
  const kind = level === "error" || level === "warning" ? "error" : "info";
  const toast = document.getElementById(`toast-${kind}`).content.cloneNode(true).querySelector(".toast");
  toast.dataset.toast = level;
  toast.dataset.key = key;
  toast.querySelector(":scope > span:not(.bad)").textContent = text;
  const form = toast.querySelector("form");
  if (typeof undo === "function") {
    form.removeAttribute("hx-post");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      undo();
      toast.remove();
    });
  } else if (undo) {
    form.setAttribute("action", undo);
    form.setAttribute("hx-post", undo);
  } else {
    form.remove();
  }
  if (link) {
    const button = Object.assign(document.createElement("a"), {
      className: "button",
      href: link.href,
      target: "_blank",
    });
    button.textContent = link.text;
    toast.querySelector("[data-toast-close]").before(button);
  }
  list.append(toast);
  window.htmx?.process(toast);
}

new MutationObserver((changes) => {
  for (const change of changes) {
    for (const node of change.addedNodes) if (node.matches?.(".toast")) arm(node);
  }
}).observe(list, { childList: true });
for (const toast of list.querySelectorAll(".toast")) arm(toast);

document.addEventListener("toast", (event) => show(event.detail));
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-toast-close]")) event.target.closest(".toast").remove();
});
// The Undo that was taken goes away with its toast; a refused one stays, and the error is said beside it.
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.successful) event.detail.requestConfig?.elt.closest?.("[data-undo]")?.closest(".toast")?.remove();
});
