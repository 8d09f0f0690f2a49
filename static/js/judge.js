// Judging one document at a time. The next cards are on the page already (<template data-next>), so a judgment shows the next one at
// once and is sent in the background. What was not sent yet is kept in the storage of this tab, also across a reload and a sign-in:
// if the server cannot be reached, it is sent again after 10 seconds or when the network is back.

const RETRY_MILLISECONDS = 10000;
const root = document.getElementById("judge");
const slot = document.getElementById("judge-slot");
const notice = document.getElementById("unsent");
const storageKey = root.dataset.judgeKey;

const done = []; // cards that were judged here, oldest first
const waiting = []; // cards that come next
const forward = []; // cards that Back has passed
let outbox = JSON.parse(sessionStorage.getItem(storageKey) || "[]"); // [{card, fields}], oldest first
let sending = null;
let timer = 0;
let isLast = false; // the server had no further document

const current = () => slot.querySelector("[data-card]");
const shownCards = () => [current(), ...waiting, ...forward].filter(Boolean);

function take(part) {
  for (const template of part.querySelectorAll("template[data-next]")) {
    const card = template.content.querySelector("[data-card]");
    const isThere = shownCards().some((other) => other.dataset.card === card.dataset.card);
    const isUnsent = outbox.some((entry) => entry.card === card.dataset.card);
    if (!isThere && !isUnsent) waiting.push(document.importNode(card, true));
    template.remove();
  }
}

// How many documents of each query need no judgment any more, as the server counts them.
function countQueries(part) {
  for (const template of part.querySelectorAll("template[data-query-count]")) {
    for (const card of [...shownCards(), ...done]) {
      const text = card.querySelector(`[data-count-of="${template.dataset.queryCount}"]`);
      if (text) text.textContent = template.content.textContent.trim();
    }
    template.remove();
  }
}

function show(card, focus = true) {
  slot.replaceChildren(card);
  if (focus) card.querySelector(".judged-query")?.focus({ preventScroll: true });
  scrollTo(0, 0);
  const [next] = waiting;
  const picture = next?.querySelector("img")?.getAttribute("src");
  if (picture) Object.assign(new Image(), { referrerPolicy: "no-referrer", src: picture }); // loaded before it is shown
}

function showNext() {
  const card = forward.shift() ?? waiting.shift();
  if (card) return show(card);
  const template = document.getElementById(isLast && !outbox.length ? "judge-done" : "judge-wait");
  slot.replaceChildren(document.importNode(template.content, true));
}

function store() {
  sessionStorage.setItem(storageKey, JSON.stringify(outbox));
}

function say(text, signIn = false) {
  notice.hidden = text === "";
  notice.querySelector("[data-unsent-text]").textContent = text;
  notice.querySelector("[data-unsent-sign-in]").hidden = !signIn;
}

function markOwn(card, submitter) {
  card.toggleAttribute("data-judged", submitter.name !== "later");
  for (const button of card.querySelectorAll(".choice"))
    button.setAttribute("aria-pressed", String(button === submitter));
  for (const menu of card.querySelectorAll("details[data-menu]")) menu.open = false;
}

function addToLast(card, submitter) {
  const list = document.getElementById("judge-last");
  const grade = submitter.closest(".choice")?.querySelector(".grade")?.cloneNode(true);
  if (!grade && submitter.name !== "cannot") return;
  const pill = grade ?? Object.assign(document.createElement("span"), { className: "grade unrated", textContent: "·" });
  const link = Object.assign(document.createElement("a"), {
    className: "truncate flex-1",
    href: `?pair=${card.dataset.card}`,
    textContent: card.dataset.title,
  });
  const line = document.createElement("li");
  line.append(pill, link);
  for (const old of list.querySelectorAll("a"))
    if (old.getAttribute("href") === link.getAttribute("href")) old.closest("li").remove();
  list.prepend(line);
  while (list.children.length > 6) list.lastElementChild.remove();
  document.getElementById("judge-none-yet")?.remove();
}

// ---- sending, one after the other
function later(text, signIn = false) {
  const count = outbox.length === 1 ? "1 rating is" : `${outbox.length} ratings are`;
  say(`${text} ${count} kept here.`, signIn);
}

function takeBack(entry, text) {
  outbox.shift();
  store();
  document.dispatchEvent(new CustomEvent("toast", { detail: { text, level: "error" } }));
  const at = done.findIndex((card) => card.dataset.card === entry.card);
  if (at < 0) return;
  const [card] = done.splice(at, 1);
  if (current()) forward.unshift(current());
  show(card);
}

async function sendFirst() {
  const entry = outbox[0];
  const body = new URLSearchParams(entry.fields);
  body.set(
    "have",
    shownCards()
      .slice(0, 20)
      .map((card) => card.dataset.card)
      .join(","),
  );
  const token = root.querySelector("input[name=csrfmiddlewaretoken]").value;
  let response;
  try {
    response = await fetch(entry.url, {
      method: "POST",
      body,
      headers: { "HX-Request": "true", "X-CSRFToken": token },
      signal: AbortSignal.timeout(60000),
    });
  } catch {
    later("The server cannot be reached; the page tries again.");
    return false;
  }
  const text = await response.text().catch(() => "");
  if (response.ok) {
    outbox.shift();
    store();
    const part = new DOMParser().parseFromString(text, "text/html");
    take(part);
    countQueries(part);
    isLast = waiting.length === 0;
    for (const id of ["judge-progress", "judge-done"]) {
      const answer = part.getElementById(id);
      if (answer) document.getElementById(id).replaceWith(document.importNode(answer, true));
    }
    return true;
  }
  if (response.status === 401 || response.status === 403) {
    later("You are signed out, or may no longer rate here. Sign in again.", true);
    return false;
  }
  if (response.status === 429 || response.status >= 500) {
    later("The server is busy; the page tries again.");
    return false;
  }
  if (response.headers.get("HX-Refresh")) {
    outbox = []; // grades of a scale that the book no longer has
    store();
    location.reload();
    return false;
  }
  const isText = (response.headers.get("Content-Type") ?? "").startsWith("text/plain");
  takeBack(entry, isText && text ? text : "This rating could not be saved. Reload the page.");
  return true;
}

async function sendAll() {
  clearTimeout(timer);
  while (outbox.length) {
    if (!(await sendFirst())) {
      timer = setTimeout(send, RETRY_MILLISECONDS);
      return;
    }
  }
  say("");
  if (!current()) showNext();
}

function send() {
  sending ??= sendAll().finally(() => {
    sending = null;
  });
  return sending;
}

// ---- what the rater does
document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-judge]");
  const card = form?.closest("[data-card]");
  if (!form || !card) return;
  event.preventDefault();
  const submitter = event.submitter ?? form.querySelector("button[type=submit]");
  if (submitter.value.startsWith("As in my note") && !form.elements.note.value.trim()) return writeNote(card);
  const data = new FormData(form, submitter);
  data.delete("csrfmiddlewaretoken");
  outbox = outbox.filter((entry, at) => (at === 0 && sending) || entry.card !== card.dataset.card);
  outbox.push({
    card: card.dataset.card,
    url: form.action,
    fields: [...data].map(([k, v]) => [k, String(v)]),
  });
  store();
  markOwn(card, submitter);
  addToLast(card, submitter);
  if (submitter.name !== "later") done.push(card);
  showNext();
  send();
});

function writeNote(card) {
  for (const menu of card.querySelectorAll("details[data-menu]")) menu.open = false;
  card.querySelector(".note-field").open = true;
  card.querySelector("textarea").focus();
}

document.addEventListener("click", (event) => {
  const pressed = event.target.closest("[data-key-press]")?.dataset.keyPress;
  if (pressed === "back" && done.length) {
    event.preventDefault();
    if (current()) forward.unshift(current());
    show(done.pop());
  } else if (pressed === "back" && outbox.length) {
    event.preventDefault();
  } else if (pressed === "forward" && (forward.length || waiting.length)) {
    if (!current()?.hasAttribute("data-judged")) return;
    done.push(current());
    showNext();
  } else if (pressed === "cannot") {
    setTimeout(() => current()?.querySelector("details[open] .popover button")?.focus());
  } else if (pressed === "note") {
    setTimeout(() => current()?.querySelector(".note-field[open] textarea")?.focus());
  }
});

// Escape leaves the note, so that a digit rates again.
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && event.target.matches?.("#judge-slot textarea")) event.target.blur();
});

// Undo takes back what the server has, and a pause frees what is kept for the rater: all ratings have to be there first.
document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-judge-send-first]");
  if (!form || !outbox.length) return;
  event.preventDefault();
  await send();
  if (!outbox.length) form.submit();
});

addEventListener("online", send);
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload(); // from the cache of the browser: its claims are old
});
addEventListener("beforeunload", (event) => {
  if (outbox.length && !sending && notice.querySelector("[data-unsent-sign-in]").hidden) event.preventDefault();
});

if (slot.querySelector("[data-judge-reload]")) setTimeout(() => location.reload(), 2000);
take(document);
isLast = waiting.length === 0;
if (current() && outbox.some((entry) => entry.card === current().dataset.card)) showNext();
if (outbox.length) send();
