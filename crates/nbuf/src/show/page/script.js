// The page says everything without this. No sign in here has a meaning in XML. Charts are read with a pointer and with arrow keys, tables
// are sorted and copied, lines that are left out come on demand.
const text = (node) => node.textContent.trim().replace(/\s+/g, " ");

// A chart says the row of its table that is nearest.
for (const chart of document.querySelectorAll("svg[data-at]")) {
  const figure = chart.closest("figure");
  const table = figure.querySelector("table");
  const places = chart.dataset.at.split(" ").map(Number);
  if (!table || !chart.dataset.at) continue;
  const names = [...table.tHead.rows[0].cells].map(text);
  const says = [...table.tBodies[0].rows].map((row) => {
    const cells = [...row.cells].map(text);
    const named = cells.map((cell, at) => (at ? names[at] + " " + cell : cell));
    return named.filter((_, at) => cells[at]).join(", ");
  });
  let readout = figure.querySelector(".readout");
  if (!readout) {
    readout = document.createElement("p");
    readout.className = "readout faint";
    readout.textContent = "point at the chart, or go to it with Tab and use the arrow keys";
    chart.parentNode.insertBefore(readout, figure.querySelector(".chart"));
  }
  const cursor = chart.querySelector(".cursor");
  let now = -1;
  const go = (at) => {
    now = Math.max(0, Math.min(places.length - 1, at));
    const { from, to } = cursor.dataset;
    cursor.setAttribute("d", "M" + places[now] + " " + from + "V" + to);
    readout.textContent = says[now];
    chart.setAttribute("aria-valuenow", now);
    chart.setAttribute("aria-valuetext", says[now]);
  };
  chart.setAttribute("role", "slider");
  chart.setAttribute("tabindex", "0");
  chart.setAttribute("aria-valuemin", "0");
  chart.setAttribute("aria-valuemax", places.length - 1);
  chart.setAttribute("aria-valuenow", "0");
  chart.addEventListener("pointermove", (event) => {
    const box = chart.getBoundingClientRect();
    const x = ((event.clientX - box.left) * chart.viewBox.baseVal.width) / box.width;
    const far = (at) => Math.abs(places[at] - x);
    go(places.reduce((best, _, at) => (far(best) > far(at) ? at : best), 0));
  });
  chart.addEventListener("pointerleave", () => cursor.setAttribute("d", ""));
  chart.addEventListener("focus", () => go(Math.max(0, now)));
  chart.addEventListener("blur", () => cursor.setAttribute("d", ""));
  chart.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 10, PageDown: -10 };
    if (event.key in steps) go(now + steps[event.key]);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(places.length - 1);
    else return;
    event.preventDefault();
  });
}

// What a cell is sorted by: its number in the least unit, or its words.
const units = { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, k: 1e3, M: 1e6,
  ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, d: 86400 };
const value = (cell) => {
  const [, number, unit] = text(cell).match(/^[^\d\w-]?(-?[\d,]*\.?\d+)\s*([A-Za-z]*)/) || [];
  return number === undefined ? null : Number(number.replace(/,/g, "")) * (units[unit] || 1);
};

for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const order = (a, b) => {
        const [x, y] = [value(a.cells[at]), value(b.cells[at])];
        if ((x === null) !== (y === null)) return x === null ? 1 : -1;
        const words = x === null ? text(a.cells[at]).localeCompare(text(b.cells[at])) : x - y;
        return up ? words : -words;
      };
      body.append(...[...body.rows].sort(order));
    });
  });
  const copy = document.createElement("button");
  copy.type = "button";
  copy.className = "copy";
  copy.textContent = "Copy as CSV";
  copy.addEventListener("click", () => {
    // A spreadsheet would take a text with such a beginning for a formula.
    const field = (cell) => {
      const plain = text(cell);
      const acts = /^[=+\-@]/.test(plain) ? !/^[+-]?[\d.]+$/.test(plain) : false;
      const safe = acts ? "'" + plain : plain;
      return /[",]/.test(safe) ? '"' + safe.replace(/"/g, '""') + '"' : safe;
    };
    const csv = [...table.rows].map((row) => [...row.cells].map(field).join(",")).join("\n") + "\n";
    const area = document.createElement("textarea");
    area.value = csv;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    copy.textContent = done ? "Copied" : "Not copied";
    copy.focus();
    setTimeout(() => (copy.textContent = "Copy as CSV"), 2000);
  });
  table.parentNode.after(copy);
}

for (const button of document.querySelectorAll("button[data-rest]")) {
  button.addEventListener("click", () => {
    const shown = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", shown);
    const lines = button.closest("figure").querySelectorAll("g[data-rest='" + button.dataset.rest + "']");
    lines.forEach((line) => line.classList.toggle("shown", shown));
  });
}

// Paper has all numbers.
const closed = () => document.querySelectorAll("details:not([open])");
addEventListener("beforeprint", () => closed().forEach((part) => {
  part.open = true;
  part.dataset.printed = "";
}));
addEventListener("afterprint", () => {
  for (const part of document.querySelectorAll("details[data-printed]")) {
    part.open = false;
    delete part.dataset.printed;
  }
});
