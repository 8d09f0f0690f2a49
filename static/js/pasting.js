// Pasted queries that the server would refuse for their size are refused before they are sent.
//   <textarea data-max-lines="20000" data-max-bytes="11000000">   lines that are not blank, and bytes in UTF-8

function problem(field) {
  const most = Number(field.dataset.maxLines);
  const bytes = new Blob([field.value]).size;
  const lines = bytes > most ? field.value.split("\n").filter((line) => line.trim()).length : 0;
  const number = (value) => value.toLocaleString("en");
  if (lines > most) return `${number(lines)} lines are too many. Paste at most ${number(most)} at once, or use a file.`;
  if (bytes > Number(field.dataset.maxBytes)) {
    return `${(bytes / 1e6).toFixed(1)} MB are too much for this box. Use a file.`;
  }
  return "";
}

document.addEventListener("input", (event) => {
  const field = event.target;
  if (field.matches?.("textarea[data-max-lines]")) field.setCustomValidity(problem(field));
});

function refuse(event) {
  const form = event.target.closest?.("form") ?? event.target;
  const field = form.querySelector?.("textarea[data-max-lines]");
  if (!field?.validationMessage || !field.checkVisibility() || field.checkValidity()) return;
  event.preventDefault();
  event.stopPropagation();
  field.reportValidity();
}

document.addEventListener("submit", refuse, { capture: true });
document.addEventListener("htmx:beforeRequest", refuse);
