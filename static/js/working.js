// <button data-copy-table> in a .working copies the table before it as CSV: the text, without the bars.

const RISKY = /^[=+\-@\t\r](?!$|[\d.\u2212])/; // a spreadsheet would take it for a formula

function cell(text) {
  const plain = text.replace(/\s+/g, " ").trim().replaceAll("\u2212", "-");
  const safe = RISKY.test(plain) ? `'${plain}` : plain;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csv(table) {
  return [...table.rows]
    .map((row) =>
      [...row.cells]
        .filter((each) => !each.classList.contains("bar-cell"))
        .flatMap((each) => parts(each))
        .map(cell)
        .join(","),
    )
    .join("\r\n");
}

// The column of the document contains two values: its grade and its title.
function parts(each) {
  if (each.cellIndex !== 1) return [each.textContent];
  if (each.localName === "th") return ["Grade", each.textContent];
  const grade = each.querySelector(".grade")?.textContent ?? "";
  return [grade === "·" ? "" : grade, each.querySelector(".truncate")?.textContent ?? ""];
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy-table]");
  const table = button?.closest(".working")?.querySelector("table");
  if (!table) return;
  try {
    await navigator.clipboard.writeText(csv(table));
    document.dispatchEvent(new CustomEvent("toast", { detail: { text: "The table is copied as CSV." } }));
  } catch {
    document.dispatchEvent(
      new CustomEvent("toast", {
        detail: {
          text: "The browser does not let this page copy. Select the table and copy it by hand.",
          level: "error",
        },
      }),
    );
  }
});
