// What happens around htmx requests: errors become toasts and leave the page as it is, the focus returns to the same
// control after a swap, and progress is announced to screen readers. A 422 is swapped (see htmx-config in base.html).
//   data-announce="412 of 1,000"   on a part that is swapped in: announced at most every 10 seconds

const GENERIC = {
  400: "The server could not read this request. Reload the page and try again.",
  401: "You are signed out. Reload the page and sign in; nothing you saved is lost.",
  403: "You may not do this, or you were signed out. Reload the page to see.",
  404: "It is not there any more. Reload the page.",
  409: "Another user changed this at the same time. Reload the page to see the current state.",
  413: "That is too large for this server.",
  429: "Too many requests at once. Wait a moment and try again.",
};
const LONGEST = 300;

function toast(text, key, level = "error") {
  document.dispatchEvent(new CustomEvent("toast", { detail: { text, level, key } }));
}

/** Whether the user is signed out, or this page is from an earlier session; ratings are kept then: rate.js */
function isSignOut(xhr) {
  return xhr.status === 401 || (xhr.responseText || "").includes("data-csrf-failed");
}

/** The key of the toast of a refused request; the same request, accepted later, takes it away. */
function keyOf(detail) {
  const { verb, path } = detail.requestConfig ?? {};
  return path ? `refused ${verb} ${new URL(path, location.href).pathname}` : undefined;
}

function serverMessage(xhr) {
  const type = xhr.getResponseHeader("Content-Type") || "";
  const body = xhr.responseText || "";
  if (type.startsWith("application/json")) {
    try {
      return JSON.parse(body).detail;
    } catch {
      return "";
    }
  }
  if (type.startsWith("text/plain")) return body;
  if (!type.startsWith("text/html")) return "";
  return new DOMParser().parseFromString(body, "text/html").querySelector("[data-message]")?.textContent;
}

/** By which an administrator finds an unexpected error in the log. */
function referenceOf(xhr) {
  const reference = xhr.status === 500 && xhr.getResponseHeader("X-Request-ID");
  return reference ? `. Reference: ${reference}` : "";
}

function message(xhr) {
  const text = String(serverMessage(xhr) || "").trim();
  if (text) return (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text) + referenceOf(xhr);
  if (GENERIC[xhr.status]) return GENERIC[xhr.status];
  return `The server answered with error ${xhr.status}. Nothing was changed on this page; try again.`;
}

document.addEventListener("htmx:responseError", (event) => {
  const { requestConfig, xhr } = event.detail;
  if (requestConfig?.elt.closest?.("form[data-rate]") && isSignOut(xhr)) return;
  toast(message(xhr), keyOf(event.detail));
});
document.addEventListener("htmx:afterRequest", (event) => {
  if (!event.detail.successful) return;
  toast("", keyOf(event.detail));
  toast("", "unreachable");
});
for (const [name, text] of [
  ["htmx:sendError", "The server cannot be reached. What you typed is still here; try again."],
  ["htmx:timeout", "The server took too long to answer. What you typed is still here; try again."],
]) {
  document.addEventListener(name, (event) => {
    if (!event.detail.elt.closest?.("[data-rate]")) toast(text, "unreachable"); // ratings are kept and sent again: rate.js
  });
}
document.addEventListener("htmx:swapError", () => toast("The answer could not be shown. Reload the page."));

// ---- focus: htmx itself restores it only for elements with an id
let focusLost = null;

function remember(target) {
  const active = document.activeElement;
  if (!active || active === document.body || !target?.contains(active)) return;
  const container = active.parentElement?.closest("[id]");
  focusLost = {
    id: active.id,
    container: container?.id,
    tag: active.localName,
    name: active.name,
    grade: active.dataset.grade,
    key: active.dataset.keyPress,
  };
}

document.addEventListener("htmx:beforeSwap", (event) => {
  focusLost = null;
  remember(event.detail.target);
});
document.addEventListener("htmx:oobBeforeSwap", (event) => remember(event.detail.target));

function findAgain({ id, container, tag, name, grade, key }) {
  if (id) return document.getElementById(id);
  const within = (container && document.getElementById(container)) || document;
  if (grade) return within.querySelector(`[data-grade="${CSS.escape(grade)}"]`);
  if (key) return within.querySelector(`[data-key-press="${CSS.escape(key)}"]`);
  if (name) return within.querySelector(`${tag}[name="${CSS.escape(name)}"]`);
  return container ? document.getElementById(container)?.querySelector(tag) : null;
}

document.addEventListener("htmx:afterSettle", () => {
  if (focusLost && (document.activeElement === document.body || !document.activeElement)) {
    findAgain(focusLost)?.focus({ preventScroll: true });
  }
  focusLost = null;
});

// ---- progress for screen readers
const announcer = document.getElementById("announce");
let last = 0;

document.addEventListener("htmx:load", (event) => {
  const part = event.detail.elt;
  const speaker = part.matches?.("[data-announce]") ? part : part.querySelector?.("[data-announce]");
  if (!speaker || Date.now() - last < 10000) return;
  last = Date.now();
  announcer.textContent = speaker.dataset.announce;
});

// ---- an element that polls and is replaced meanwhile: its answer has no place any more
const polls = new WeakMap();
document.addEventListener("htmx:beforeSend", (event) => {
  const { elt, xhr } = event.detail;
  if (elt.matches("[hx-get][hx-trigger]")) polls.set(elt, xhr);
});
document.addEventListener("htmx:beforeCleanupElement", (event) => {
  const xhr = polls.get(event.target);
  if (xhr && xhr.readyState < XMLHttpRequest.DONE) xhr.abort();
});
