// Offers while an attempt is edited: names of fields, placeholders, knobs, words of the engine.
//   [data-completes="fields"]      an input with a field specification      [data-completes="template"]  the template
//   [data-offers="/address"]       around both: where the offers come from; the chosen endpoint is added
//   select[name=endpoint]          within it: another endpoint has other fields
// Down and up choose, Enter takes, Esc closes, Ctrl+Space opens. Nothing is chosen unasked, so that Enter stays Enter.

const MOST = 8;
const known = new Map(); // address → promise of the offers
const holder = Object.assign(document.createElement("div"), { className: "completions-at", hidden: true });
const list = Object.assign(document.createElement("ul"), { className: "completions", id: "completions", role: "listbox" });
list.setAttribute("aria-label", "Offered");
holder.append(list);

let field = null;
let token = "";
let active = -1;

function ask(form) {
  const endpoint = form.querySelector("select[name=endpoint]")?.value ?? "";
  const address = `${form.dataset.offers}?endpoint=${encodeURIComponent(endpoint)}`;
  if (!known.has(address)) {
    const answer = fetch(address, { headers: { Accept: "application/json" }, credentials: "same-origin" })
      .then((response) => (response.ok ? response.json() : Promise.reject(new Error(String(response.status)))))
      .catch(() => {
        known.delete(address); // no offers now, perhaps the next time
        return null;
      });
    known.set(address, answer);
  }
  return known.get(address);
}

// What stands before the caret and is to be completed, and what could become of it.
function sought(target, offers, forced) {
  const before = target.value.slice(0, target.selectionStart);
  if (target.dataset.completes === "fields") return { start: /[^\s,+]*$/.exec(before)[0], from: offers.fields };
  const slot = /#[$#][\w.]*$|#$/.exec(before)?.[0];
  if (slot) return { start: slot, from: offers.slots };
  const word = /[A-Za-z_][\w.]*$/.exec(before)?.[0] ?? "";
  return { start: word.length > 1 || forced ? word : "", from: word.length > 1 || forced ? [...offers.names, ...offers.words] : [] };
}

function fitting(start, from) {
  const small = start.toLowerCase();
  const begins = from.filter((offer) => offer.toLowerCase().startsWith(small) && offer !== start);
  const contains = small ? from.filter((offer) => !begins.includes(offer) && offer !== start && offer.toLowerCase().includes(small)) : [];
  return [...new Set([...begins, ...contains])].slice(0, MOST);
}

// Right below the field: a holder without height, so that nothing moves when the list opens.
function place(target) {
  (target.closest(".editor") ?? target).after(holder);
}

function close() {
  holder.hidden = true;
  active = -1;
  for (const name of ["aria-controls", "aria-activedescendant"]) field?.removeAttribute(name);
  field = null;
}

function choose(index) {
  const options = [...list.children];
  active = (index + options.length) % options.length;
  options.forEach((option, place) => option.setAttribute("aria-selected", String(place === active)));
  field.setAttribute("aria-activedescendant", options[active].id);
  options[active].scrollIntoView({ block: "nearest" });
}

function take(text) {
  const target = field;
  const end = target.selectionStart;
  target.setRangeText(text, end - token.length, end, "end");
  close();
  target.dispatchEvent(new Event("input", { bubbles: true }));
  close(); // what was taken is not offered again at once
}

async function offer(target, forced = false) {
  const offers = await ask(target.closest("[data-offers]"));
  if (!offers || document.activeElement !== target) return close();
  const { start, from } = sought(target, offers, forced);
  const found = start || forced ? fitting(start, from) : [];
  if (!found.length) return close();
  field = target;
  token = start;
  active = -1;
  list.replaceChildren(...found.map((text, index) => {
    const option = Object.assign(document.createElement("li"), { id: `completion-${index}`, role: "option", textContent: text });
    option.setAttribute("aria-selected", "false");
    return option;
  }));
  holder.hidden = false;
  target.setAttribute("aria-controls", "completions");
  place(target);
}

document.addEventListener("input", (event) => {
  if (event.target.matches?.("[data-completes]") && event.isTrusted) offer(event.target);
});
document.addEventListener("keydown", (event) => {
  const target = event.target;
  if (!target.matches?.("[data-completes]")) return;
  if (event.key === " " && event.ctrlKey) {
    event.preventDefault();
    offer(target, true);
    return;
  }
  if (holder.hidden || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") choose(event.key === "ArrowDown" ? active + 1 : active < 0 ? -1 : active - 1);
  else if (event.key === "Enter" && active >= 0) take(list.children[active].textContent);
  else if (event.key === "Escape") close();
  else return;
  event.preventDefault();
}, true);
list.addEventListener("pointerdown", (event) => {
  event.preventDefault(); // the field keeps the focus
  const option = event.target.closest("li");
  if (option) take(option.textContent);
});
document.addEventListener("focusout", (event) => {
  if (event.target === field) close();
});
document.addEventListener("htmx:beforeSwap", close);
