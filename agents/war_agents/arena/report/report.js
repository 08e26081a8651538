"use strict";

// Every column of a sortable table can be sorted by its head, first upwards, then downwards.

const collator = new Intl.Collator("en", { numeric: true });

// The number that a cell begins with; below all others where it has none, or no lower end.
function leading(text) {
  const found = text.startsWith("<") ? null : text.match(/[-+]?\d+(\.\d+)?/);
  return found ? Number(found[0]) : -Infinity;
}

function compare(a, b, numeric) {
  if (!numeric) return collator.compare(a, b);
  const [x, y] = [leading(a), leading(b)];
  return x < y ? -1 : Number(x > y);
}

function sort(table, column) {
  const heads = [...table.tHead.rows[0].cells];
  const head = heads[column];
  const down = head.getAttribute("aria-sort") === "ascending";
  const numeric = head.classList.contains("number");
  const text = (row) => row.cells[column].textContent.trim();
  const rows = [...table.tBodies[0].rows];
  rows.sort((p, q) => compare(text(p), text(q), numeric) * (down ? -1 : 1));
  table.tBodies[0].append(...rows);
  for (const other of heads) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
}

for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(table, column));
    head.append(button);
  });
}
