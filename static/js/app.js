// Theme, dialogs and menus. Everything is wired by data attributes on the document, so swapped-in parts need no set-up.
//   data-theme-switch              light or dark, kept in the cookie "theme" for the server; fires "themechange" on document
//   data-picture-switch            large pictures or small ones, kept in the cookie "pictures"
//   data-dialog="id"               opens that <dialog>; data-dialog-close inside one closes it
//   <dialog data-dialog-auto>      opens as soon as it is on the page (an answer of htmx put into #dialog)
//   <details data-menu>            closes on Esc and on a click elsewhere
//   <button data-copy>             copies the <pre> of its .copyable, or the text of the field beside it
//   <select data-submit>           sends its form when changed
//   data-choice="v" data-choice-of="name"  gets the class is-chosen while the control "name" of its form has the value v

const root = document.documentElement;
const YEAR = 365 * 24 * 3600;

function keep(name, value) {
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `${name}=${value}; path=/; max-age=${YEAR}; samesite=lax${secure}`;
}

function switchPictures(button) {
  const isLarge = document.body.dataset.pictures !== "large";
  document.body.dataset.pictures = isLarge ? "large" : "small";
  button.setAttribute("aria-pressed", String(isLarge));
  keep("pictures", document.body.dataset.pictures);
}

function switchTheme() {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  keep("theme", root.dataset.theme);
  document.dispatchEvent(new CustomEvent("themechange", { detail: { theme: root.dataset.theme } }));
}

function openDialog(dialog) {
  if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal();
}

function openNew(part) {
  const inside = part.querySelectorAll ? [...part.querySelectorAll("dialog[data-dialog-auto]")] : [];
  for (const dialog of [part, ...inside]) if (dialog.matches?.("dialog[data-dialog-auto]")) openDialog(dialog);
}

openDialog(document.getElementById(location.hash.slice(1))); // an address of another page leads to a dialog of this one

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details[data-menu][open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
  if (event.target.closest("[data-theme-switch]")) switchTheme();
  const pictureSwitch = event.target.closest("[data-picture-switch]");
  if (pictureSwitch) switchPictures(pictureSwitch);
  const opener = event.target.closest("[data-dialog]");
  const dialog = opener && document.getElementById(opener.dataset.dialog);
  if (dialog) {
    event.preventDefault();
    openDialog(dialog);
  }
  if (event.target.closest("[data-dialog-close]")) event.target.closest("dialog")?.close();
  // A click on the dialog itself, and not on what it holds, is a click on the backdrop.
  if (event.target instanceof HTMLDialogElement && event.target.open) {
    const box = event.target.getBoundingClientRect();
    const inside =
      event.clientX >= box.left &&
      event.clientX <= box.right &&
      event.clientY >= box.top &&
      event.clientY <= box.bottom;
    if (!inside && event.detail > 0) event.target.close();
  }
});

// Escape closes an open menu and nothing else, such as the query in which the menu is: hence before other keys.
document.addEventListener(
  "keydown",
  (event) => {
    const menus = event.key === "Escape" ? document.querySelectorAll("details[data-menu][open]") : [];
    for (const menu of menus) {
      menu.open = false;
      if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
      event.stopPropagation();
    }
  },
  { capture: true },
);

function markChoices(control) {
  for (const part of control.form?.querySelectorAll("[data-choice]") ?? []) {
    if (part.dataset.choiceOf === control.name)
      part.classList.toggle("is-chosen", part.dataset.choice === control.value);
  }
}

// A browser that goes back restores choices without an event for each.
window.addEventListener("pageshow", () => {
  for (const control of document.querySelectorAll("input[type=radio]:checked")) markChoices(control);
});

document.addEventListener("change", (event) => {
  if (event.target.matches("input[type=radio]")) markChoices(event.target);
  if (event.target.matches("[data-submit]")) event.target.form?.requestSubmit();
});

document.addEventListener("htmx:load", (event) => openNew(event.detail.elt));
// A text that is there already is continued, not preceded.
document.addEventListener("htmx:afterSettle", () => {
  const field = document.activeElement;
  if (field?.matches("textarea[autofocus]") && field.selectionEnd === 0)
    field.setSelectionRange(field.value.length, field.value.length);
});
openNew(document);

// ---- copying
document.addEventListener("click", async (event) => {
  const source = event.target.closest?.("[data-copy]")?.closest(".copyable, .copy-field")?.querySelector("pre, input");
  if (!source) return;
  const text = source.value ?? source.textContent;
  let detail = { text: "Copied." };
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    detail = { text: "The browser does not let this page copy. Select the text and copy it by hand.", level: "error" };
  }
  document.dispatchEvent(new CustomEvent("toast", { detail }));
});
