"use strict";

/* Sorting: a click on the heading of a column sorts the body of its table. */
function sortBy(header, column) {
  const table = header.closest("table");
  const direction = header.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
  const sign = direction === "ascending" ? 1 : -1;
  const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
  const compare = (a, b) => Number(value(a)) - Number(value(b)) || value(a).localeCompare(value(b));
  for (const other of table.querySelectorAll("thead th")) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", direction);
  table.tBodies[0].append(...[...table.tBodies[0].rows].sort((a, b) => sign * compare(a, b)));
}

for (const button of document.querySelectorAll("table.sortable thead button")) {
  const header = button.closest("th");
  button.addEventListener("click", () => sortBy(header, header.cellIndex));
}

/* Tables whose heading has several lines: the corner and the last line get buttons. */
for (const table of document.querySelectorAll("table.results")) {
  const lines = [...table.tHead.rows];
  const corner = lines[0].cells[0];
  const last = [...lines.at(-1).cells].filter((cell) => cell !== corner);
  [corner, ...last].forEach((header, column) => {
    const button = document.createElement("button");
    const text = document.createElement("span");
    button.type = "button";
    text.append(...header.childNodes);
    button.append(text);
    header.append(button);
    button.addEventListener("click", () => sortBy(header, column));
  });
}

/* Methods that are switched off leave tables and figures. */
function showMethod(key, shown) {
  for (const part of document.querySelectorAll("[data-key], [data-method]")) {
    if ((part.dataset.key ?? part.dataset.method) === key) part.classList.toggle("off", !shown);
  }
  for (const table of document.querySelectorAll("table.results")) fitGroups(table);
}

/* Headings that span several columns span those that are shown. */
function fitGroups(table) {
  const lines = [...table.tHead.rows];
  const keys = [...lines.at(-1).cells].filter((cell) => "key" in cell.dataset);
  for (const line of lines.slice(0, -1)) {
    let first = 0;
    for (const group of line.querySelectorAll("th[scope=colgroup]")) {
      group.dataset.span ??= group.colSpan;
      const members = keys.slice(first, (first += Number(group.dataset.span)));
      const shown = members.filter((cell) => !cell.classList.contains("off")).length;
      group.classList.toggle("off", shown === 0);
      group.colSpan = Math.max(shown, 1);
    }
  }
}

for (const box of document.querySelectorAll("input[name=method]")) {
  box.addEventListener("change", () => showMethod(box.value, box.checked));
}

/* Figures open in a dialog, where they can be made larger. */
const dialog = document.querySelector("dialog");
if (dialog) {
  const stage = dialog.querySelector(".stage");
  let scale = 1;
  const resize = (factor) => {
    scale = Math.min(Math.max(scale * factor, 1), 8);
    stage.firstElementChild.style.width = `${100 * scale}%`;
  };
  for (const button of document.querySelectorAll("figure.zoomable .zoom")) {
    button.addEventListener("click", () => {
      scale = 1;
      const drawing = button.closest("figure").querySelector("svg").cloneNode(true);
      stage.replaceChildren(drawing);
      dialog.showModal();
    });
  }
  for (const button of dialog.querySelectorAll("[data-scale]")) {
    button.addEventListener("click", () => resize(Number(button.dataset.scale)));
  }
}

/* Two classes are chosen: the columns that matter most for telling them apart. */
const pairData = document.querySelector("#pair-data");
if (pairData) {
  const { classes, pairs } = JSON.parse(pairData.textContent);
  const boxes = [document.querySelector("#first-class"), document.querySelector("#second-class")];
  const sentence = document.querySelector("#pair .sentence");
  const list = document.querySelector("#pair ol");
  const part = (kind, text) => {
    const element = document.createElement("span");
    element.className = kind;
    element.textContent = text;
    return element;
  };
  const item = ([name, drop], largest) => {
    const element = document.createElement("li");
    const bar = part("bar", "");
    bar.style.setProperty("--v", drop / largest);
    element.append(part("name", name), " ", part("value", drop.toFixed(1)), bar);
    return element;
  };
  const show = () => {
    const [a, b] = boxes.map((box) => Number(box.value));
    const found = pairs.find((pair) => (pair.first === a && pair.second === b) || (pair.first === b && pair.second === a));
    list.replaceChildren();
    if (a === b) {
      sentence.textContent = "Choose two different classes.";
    } else if (!found) {
      sentence.textContent = `${classes[a]} and ${classes[b]} are easy to separate; nothing was counted for them.`;
    } else {
      const none = found.columns.length ? "" : " No column alone matters.";
      sentence.textContent = `Of the held-out rows of ${classes[a]} and ${classes[b]}, ${found.apart.toFixed(1)} % score higher for their own class than for the other.${none}`;
      list.append(...found.columns.map((column) => item(column, found.columns[0][1])));
    }
  };
  for (const box of boxes) box.addEventListener("change", show);
}
