// <button data-copy-table> in a .working copies the table before it as CSV: the text, without the bars.

const RISKY = /^[=+\-@\t\r](?!$|[\d.\u2212])/; // a spreadsheet would take it for a formula

function csvCell(text) {
  const plain = text.replace(/\s+/g, " ").trim().replaceAll("\u2212", "-");
  const safe = RISKY.test(plain) ? `'${plain}` : plain;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csv(table) {
  return [...table.rows]
    .map((row) =>
      [...row.cells]
        .filter((cell) => !cell.classList.contains("bar-cell"))
        .flatMap((cell) => parts(cell))
        .map(csvCell)
        .join(","),
    )
    .join("\r\n");
}

// The column of the document contains two values: its grade and its title.
function parts(cell) {
  if (cell.cellIndex !== 1) return [cell.textContent];
  if (cell.localName === "th") return ["Grade", cell.textContent];
  const grade = cell.querySelector(".grade")?.textContent ?? "";
  return [grade === "·" ? "" : grade, cell.querySelector(".truncate")?.textContent ?? ""];
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
