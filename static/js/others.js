// What other users do on this case while its page is open: their ratings and runs arrive within seconds. Only a visible page looks.
//   [data-changes-url]   answers {since, queries, run}: see views/workbench/others.py

const EVERY = 5000;
let since = "";
let run = null;
let isOwnRun = false;

document.addEventListener("run-started", () => {
  isOwnRun = true;
});

function update(source, only) {
  const head = document.getElementById("case-score");
  if (!head || head.hasAttribute("data-active")) return; // it follows the run itself
  const address = new URL(source.dataset.stateUrl, location.href);
  const shown = new URL(location.href).searchParams.get("run");
  if (shown) address.searchParams.set("run", shown);
  if (only) address.searchParams.set("only", "head");
  window.htmx.ajax("GET", address.pathname + address.search, {
    source: "#case-score",
    target: "#case-score",
    swap: "outerHTML",
  });
}

async function look() {
  const source = document.querySelector("[data-changes-url]");
  if (!source || document.visibilityState !== "visible") return;
  const headers = { "HX-Request": "true" }; // signed out, it is refused instead of redirected
  const response = await fetch(`${source.dataset.changesUrl}?since=${since}`, { headers }).catch(() => null);
  if (!response?.ok) return;
  const news = await response.json();
  since = String(news.since);
  const isNewRun = run !== null && news.run !== run && !isOwnRun;
  run = news.run;
  isOwnRun = false;
  if (isNewRun)
    update(source, false); // its events let the list follow
  else if (news.queries.length) {
    update(source, true);
    if (news.queries.some((id) => document.getElementById(`query-${id}`))) window.htmx.trigger("#queries", "run-list");
  }
}

setInterval(look, EVERY);
document.addEventListener("visibilitychange", look);
look();
