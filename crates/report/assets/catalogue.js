// What a reader does to a catalogue: orders lines by a column, and chooses lines and columns.
"use strict";

const tables = [...document.querySelectorAll("table.catalogue")].map((table) => ({
  table,
  section: table.closest("section"),
  heads: [...table.tHead.rows[0].cells],
  lines: [...table.tBodies[0].rows].map((row, place) => ({ row, place, words: wordsOf(row) })),
}));

/** What a line is found by: all that stands before its figures. */
function wordsOf(row) {
  const facts = [...row.cells].filter((cell) => !cell.matches(".number"));
  return facts.map((cell) => cell.textContent).join(" ").toLowerCase();
}

/** The words that somebody has typed. */
const typed = (id) => $(id).value.toLowerCase().split(/\s+/).filter(Boolean);

// ---- Order

const numeric = new Intl.Collator("en", { numeric: true });

/** Lines without a figure stand last, whatever the direction; of equals, the first given is first. */
function compare(column, sign) {
  const key = (line) => line.row.cells[column].dataset.key;
  const isFact = (line) => !line.row.cells[column].matches(".number");
  return (left, right) => {
    if (isFact(left)) {
      const texts = [left, right].map((line) => line.row.cells[column].textContent);
      return sign * numeric.compare(...texts) || left.place - right.place;
    }
    const [ours, theirs] = [key(left), key(right)];
    if (ours === undefined || theirs === undefined) {
      return (ours === undefined) - (theirs === undefined) || left.place - right.place;
    }
    return sign * (Number(ours) - Number(theirs)) || left.place - right.place;
  };
}

/** The first press puts the least first, the second the greatest, the third all as they were. */
function order({ table, heads, lines }, column) {
  const next = { null: "ascending", ascending: "descending", descending: null }[heads[column].getAttribute("aria-sort")];
  for (const head of heads) {
    head.removeAttribute("aria-sort");
    head.querySelector(".sort").textContent = "↕";
  }
  if (next) heads[column].setAttribute("aria-sort", next);
  heads[column].querySelector(".sort").textContent = { ascending: "↑", descending: "↓" }[next] ?? "↕";
  const sorted = next ? [...lines].sort(compare(column, next === "ascending" ? 1 : -1)) : lines;
  table.tBodies[0].append(...sorted.map((line) => line.row));
}

function addButtons(each) {
  each.heads.forEach((head, column) => {
    const name = head.querySelector("a, .name")?.textContent ?? head.textContent;
    const button = element("button", { type: "button", class: "sort", "aria-label": `Order by ${name}` }, "↕");
    button.addEventListener("click", () => order(each, column));
    head.append(button);
  });
}

// ---- Choice

function filter() {
  const [machines, columns] = [typed("machines"), typed("columns")];
  const [vendor, measure] = [$("vendor")?.value ?? "", $("measure")?.value ?? ""];
  let shown = 0;
  for (const { section, heads, lines } of tables) {
    section.hidden = measure !== "" && section.id !== measure;
    for (const line of lines) {
      const is = machines.every((word) => line.words.includes(word)) && (!vendor || line.row.dataset.vendor === vendor);
      line.row.hidden = !is;
      shown += is && !section.hidden;
    }
    heads.forEach((head, column) => {
      const isShown = !head.matches(".column") || !columns.length || columns.some((word) => head.textContent.toLowerCase().includes(word));
      if (head.hidden === !isShown) return;
      head.hidden = !isShown;
      for (const { row } of lines) row.cells[column].hidden = !isShown;
    });
  }
  const all = tables.reduce((sum, { lines }) => sum + lines.length, 0);
  $("count").value = `${shown} of ${all} lines`;
}

tables.forEach(addButtons);
if (tables.length) {
  $("filter").hidden = false;
  $("filter").addEventListener("submit", (event) => event.preventDefault());
  for (const id of ["machines", "columns"]) $(id).addEventListener("input", filter);
  for (const id of ["vendor", "measure"]) $(id)?.addEventListener("change", filter);
  filter();
}
