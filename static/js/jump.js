// The box “Jump to…” of the top bar: arrow keys choose from the menu under it, Enter opens the first entry, Escape closes it.

const box = document.querySelector("[data-key-jump]");
const menu = document.getElementById("jump-results");

const links = () => [...menu.querySelectorAll("a[href]")];
const isCurrent = () => menu.dataset.text === box.value.trim();

function close() {
  menu.replaceChildren();
  delete menu.dataset.text;
}

if (box && menu) {
  // Which text the menu belongs to: Enter must not open an entry for a text that was changed since.
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.elt === box) delete menu.dataset.text;
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target === menu) menu.dataset.text = event.detail.requestConfig.parameters.q.trim();
  });

  box.form.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Escape") {
      close();
      if (event.target === box) return; // js/keys.js leaves the field
      event.preventDefault();
      box.focus();
      return;
    }
    if (event.key === "Enter" && event.target === box && isCurrent() && links().length) {
      event.preventDefault();
      links()[0].click();
    }
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by || !links().length) return;
    event.preventDefault();
    const next = links().indexOf(document.activeElement) + by;
    if (next < 0) box.focus();
    else links()[Math.min(next, links().length - 1)].focus();
  });

  document.addEventListener("focusin", (event) => {
    if (!box.form.contains(event.target)) close();
  });
  document.addEventListener("pointerdown", (event) => {
    if (!box.form.contains(event.target)) close();
  });
}
