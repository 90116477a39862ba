for (const button of document.querySelectorAll("table.sortable thead button")) {
  button.addEventListener("click", () => {
    const header = button.closest("th");
    const table = header.closest("table");
    const column = header.cellIndex;
    const direction = header.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
    const sign = direction === "ascending" ? 1 : -1;
    const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
    const compare = (a, b) => Number(value(a)) - Number(value(b)) || value(a).localeCompare(value(b));
    for (const other of table.querySelectorAll("thead th")) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", direction);
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort((a, b) => sign * compare(a, b)));
  });
}
