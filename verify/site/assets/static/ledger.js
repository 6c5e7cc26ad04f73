/* Filters, searches and sorts the ledger. The address keeps the choice, so that it can be cited. */
"use strict";

(() => {
  const table = document.getElementById("ledger");
  if (!table) return;
  const form = document.querySelector("form.controls");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const counts = [...document.querySelectorAll(".count")];
  const plain = (words) => words.normalize("NFKC").toLowerCase(); // "ϵ", as formulas have it, is "ε"
  const text = new Map(rows.map((row) => [row, plain(row.textContent)]));
  form.hidden = false;

  const chosen = () => Object.fromEntries([...new FormData(form)].filter(([, value]) => value));

  const matches = (row, { text: sought = "", ...filters }) =>
    plain(sought).split(/\s+/).every((word) => text.get(row).includes(word)) &&
    Object.entries(filters).every(([name, value]) => row.dataset[name] === value);

  const apply = () => {
    const wanted = chosen();
    for (const row of rows) row.hidden = !matches(row, wanted);
    const shown = rows.filter((row) => !row.hidden).length;
    form.querySelector("output").textContent = `${shown} of ${rows.length} shown`;
    for (const count of counts) {
      count.setAttribute("aria-pressed", String(count.dataset.verdict === wanted.verdict));
    }
    const query = new URLSearchParams(wanted).toString();
    history.replaceState(null, "", `${location.pathname}${query ? "?" + query : ""}${location.hash}`);
  };

  const value = (row, column) => {
    const cell = row.cells[column];
    if (!cell.classList.contains("number")) return cell.textContent;
    const number = parseFloat(cell.dataset.value ?? cell.textContent.replaceAll(",", ""));
    return Number.isNaN(number) ? -Infinity : number;
  };

  const compare = (a, b) =>
    typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });

  const sort = (header, column) => {
    const states = { none: "ascending", ascending: "descending", descending: "none" };
    const state = states[header.getAttribute("aria-sort") || "none"];
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    if (state !== "none") header.setAttribute("aria-sort", state);
    const sign = state === "descending" ? -1 : 1;
    const sorted =
      state === "none" ? rows : [...rows].sort((a, b) => sign * compare(value(a, column), value(b, column)));
    body.append(...sorted);
  };

  [...table.tHead.rows[0].cells].forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = header.textContent;
    button.addEventListener("click", () => sort(header, column));
    header.replaceChildren(button);
  });

  for (const count of counts) {
    count.addEventListener("click", () => {
      const select = form.elements.verdict;
      select.value = select.value === count.dataset.verdict ? "" : count.dataset.verdict;
      apply();
    });
  }
  for (const [name, given] of new URLSearchParams(location.search)) {
    if (form.elements[name]) form.elements[name].value = given;
  }
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
  apply();
})();
