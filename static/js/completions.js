// Completions: what can be typed in a query template or a list of displayed fields.
//   [data-completions="/address"]   around the fields: JSON {fields, names, slots, words} for the chosen select[name=endpoint]
//   <input data-completes>          a list of fields: its <datalist> offers the last word, completed

const loaded = new Map(); // address → promise of the completions

function fetchCompletions(address) {
  if (!loaded.has(address)) {
    const request = fetch(address, { headers: { Accept: "application/json" }, credentials: "same-origin" })
      .then((response) => (response.ok ? response.json() : Promise.reject(new Error(String(response.status)))))
      .catch(() => {
        loaded.delete(address); // tried again at the next key
        return null;
      });
    loaded.set(address, request);
  }
  return loaded.get(address);
}

/** The completions for a field: from the address around it, else the field names of the datalist it names, else null. */
export async function completionsFor(field) {
  const form = field.closest("[data-completions]");
  if (form) {
    const endpoint = form.querySelector("select[name=endpoint]")?.value ?? "";
    return fetchCompletions(`${form.dataset.completions}?endpoint=${encodeURIComponent(endpoint)}`);
  }
  const datalist = document.getElementById(field.dataset.names);
  if (!datalist) return null;
  const names = [...datalist.options].map((option) => option.value);
  return { fields: names, names, slots: ["#$query##"], words: [] };
}

const MAX_OPTIONS = 50;

async function offerFields(input) {
  const completions = await completionsFor(input);
  const [before, word] = /^(.*?)([^\s,+]*)$/s.exec(input.value).slice(1);
  const wanted = word.toLowerCase();
  const names = (completions?.fields ?? []).filter((name) => name.toLowerCase().includes(wanted) && name !== word);
  const options = names.slice(0, MAX_OPTIONS).map((name) => new Option(name, before + name));
  input.list.replaceChildren(...options);
}

for (const name of ["input", "focusin"]) {
  document.addEventListener(name, (event) => {
    if (event.target.matches?.("input[data-completes]")) offerFields(event.target);
  });
}
