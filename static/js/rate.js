// Rating buttons (_ui/rate.html): the choice is shown at once and saved in the background. If saving fails, it is marked and kept;
// if the server was not reached, it is sent again when the network is back, or after 10 seconds. If the user is signed out, it is
// sent after signing in elsewhere: the page looks at data-session-url of the body, whose data-user says who is signed in.

const RETRY_MILLISECONDS = 10000;
const SESSION_POLL_MILLISECONDS = 15000;

function choose(form, grade) {
  const buttons = form.querySelectorAll("[data-grade]");
  for (const button of buttons) {
    const chosen = button.dataset.grade === grade;
    button.setAttribute("aria-checked", String(chosen));
    button.value = chosen ? "" : button.dataset.grade; // pressed again, it takes the rating back
  }
  if (buttons.length) form.querySelector(".rate").classList.toggle("rated", grade !== "");
}

function say(text, link) {
  document.dispatchEvent(new CustomEvent("toast", { detail: { text, link, level: "error", key: "unsaved rating" } }));
}

function failed(form, sendAgain) {
  form.classList.add("unsaved");
  if (!sendAgain) return;
  form.dataset.retry = "1";
  setTimeout(() => retry(form), RETRY_MILLISECONDS);
}

function retry(form) {
  if (!form.isConnected || form.dataset.retry === undefined) return;
  form.requestSubmit();
}

// The value is read here, before the buttons change their meaning; a repeated request sends the same value.
document.addEventListener("htmx:configRequest", (event) => {
  const form = event.detail.elt.closest?.("form[data-rate]");
  if (!form) return;
  if (form.dataset.retry !== undefined && !event.detail.triggeringEvent?.submitter) {
    event.detail.parameters.value = form.dataset.sent;
  }
  form.dataset.sent = event.detail.parameters.value ?? "";
  delete form.dataset.retry;
  delete form.dataset.signedOut;
  choose(form, form.dataset.sent);
});

// The answer may have replaced the form by now: htmx then names the part around it, the request still knows the form.
document.addEventListener("htmx:afterRequest", (event) => {
  const form = event.detail.requestConfig?.elt.closest?.("form[data-rate]");
  if (!form || !event.detail.successful) return;
  form.classList.remove("unsaved");
  if (!document.querySelector("form[data-rate].unsaved")) say("");
});
document.addEventListener("htmx:responseError", (event) => {
  const form = event.detail.requestConfig?.elt.closest?.("form[data-rate]");
  if (form && isSignedOut(event.detail.xhr)) return waitForSignIn(form);
  // 429 and 503 ask for another request; after any other server error, repeating it does no harm.
  if (form) failed(form, event.detail.xhr.status === 429 || event.detail.xhr.status >= 500);
});
for (const name of ["htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(name, (event) => {
    const form = event.detail.elt.closest?.("form[data-rate]");
    if (!form) return;
    failed(form, true);
    say("Rating not saved: the server cannot be reached. It is kept here and sent again.");
  });
}

// ---- signed out: a 401, or a 403 because the token of this page belongs to a session that has ended
let looking = 0;

function isSignedOut(xhr) {
  if (!document.body.dataset.sessionUrl) return false;
  return xhr.status === 401 || (xhr.status === 403 && xhr.responseText.includes("data-csrf-failed"));
}

function waitForSignIn(form) {
  form.classList.add("unsaved");
  form.dataset.retry = "1";
  form.dataset.signedOut = "1";
  const link = { text: "Sign in", href: document.body.dataset.sessionUrl };
  say("You are signed out. Your ratings are kept on this page and sent when you have signed in in another tab.", link);
  if (!looking) looking = setInterval(lookForSession, SESSION_POLL_MILLISECONDS);
  if (document.hasFocus()) lookForSession();
}

/** Sends what was kept as soon as the same user is signed in again, with the token of the new session. */
async function lookForSession() {
  const kept = [...document.querySelectorAll("form[data-rate][data-signed-out]")];
  if (!kept.length) {
    clearInterval(looking);
    looking = 0;
    return;
  }
  const { sessionUrl, user } = document.body.dataset;
  const response = await fetch(sessionUrl).catch(() => null);
  if (!response?.ok || response.redirected) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  if (page.body.dataset.user !== user) {
    say("Another user is signed in in this browser. Your ratings are kept on this page until you sign in again.");
    return;
  }
  const token = page.querySelector("input[name=csrfmiddlewaretoken]")?.value;
  for (const input of document.querySelectorAll("input[name=csrfmiddlewaretoken]")) input.value = token;
  document.body.setAttribute("hx-headers", page.body.getAttribute("hx-headers"));
  for (const form of kept) {
    if (form.dataset.signedOut === undefined) continue;
    delete form.dataset.signedOut;
    retry(form);
  }
}
addEventListener("focus", lookForSession);
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && lookForSession());

addEventListener("online", () => {
  for (const form of document.querySelectorAll("form[data-rate][data-retry]")) retry(form);
});
addEventListener("beforeunload", (event) => {
  if (document.querySelector("form[data-rate].unsaved[data-retry]")) event.preventDefault();
});

// Tab stops once per group; the arrow keys move the focus within it, and Space and Enter rate.
function rove(group, on) {
  const buttons = [...group.querySelectorAll("[role=radio]")];
  const stop = on ?? buttons.find((button) => button.getAttribute("aria-checked") === "true") ?? buttons[0];
  for (const button of buttons) button.tabIndex = button === stop ? 0 : -1;
}

function roveAll(part) {
  const groups = part.querySelectorAll?.("[role=radiogroup]") ?? [];
  for (const group of part.matches?.("[role=radiogroup]") ? [part, ...groups] : groups) rove(group);
}

document.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const button = event.target.closest?.("[role=radiogroup] [role=radio]");
  if (!step || !button || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  const buttons = [...button.closest("[role=radiogroup]").querySelectorAll("[role=radio]")];
  const next = buttons[(buttons.indexOf(button) + step + buttons.length) % buttons.length];
  rove(button.closest("[role=radiogroup]"), next);
  next.focus();
});
document.addEventListener("htmx:load", (event) => roveAll(event.detail.elt));
roveAll(document);
