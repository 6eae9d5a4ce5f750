// The page says everything without this. No sign in here has a meaning in XML. Pictures are read with a pointer and with arrow keys,
// tables are sorted and copied, lines that are left out come on demand.
const text = (node) => node.textContent.trim().replace(/\s+/g, " ");

// Pictures are read with a pointer and with arrow keys. A line above the picture has the numbers of the place.
const lines = (chart, name) => (chart.dataset[name] || "").split("\n");
const rows = (table) => {
  const names = [...table.tHead.rows[0].cells].map(text);
  return [...table.tBodies[0].rows].map((row) => {
    const cells = [...row.cells].map(text);
    const named = cells.map((cell, at) => (at ? names[at] + " " + cell : cell));
    return named.filter((_, at) => cells[at]).join(", ");
  });
};

// Boxes and text of each place. The text is its own, or a row of the table behind the picture, or made of the names of
// its row and column in a map, and its count.
const places = (chart) => {
  const { at, says, spots, unit } = chart.dataset;
  if (spots) {
    const [across, down, kinds] = ["columns", "rows", "kinds"].map((name) => lines(chart, name));
    return spots.split(" ").map((spot, n) => {
      const [x, y] = [n % across.length, Math.floor(n / across.length)];
      const [count, kind] = spot.split(":");
      const said = [Number(count).toLocaleString("en"), unit, kinds[kind]].filter(Boolean).join(" ");
      return { boxes: [[x, y, 1, 1]], says: down[y] + ", " + across[x] + ": " + said };
    });
  }
  const table = says ? null : chart.closest("figure").querySelector("table");
  if (!at || !(says || table)) return [];
  const texts = table ? rows(table) : lines(chart, "says");
  const boxes = (place) => place.split(";").filter(Boolean).map((box) => box.split(",").map(Number));
  return at.split(" ").map((place, n) => ({ boxes: boxes(place), says: texts[n] }));
};

// The pictures of a figure share a line, and those in the cells of a table do.
const readouts = new Map();
const readoutOf = (home) => {
  if (!readouts.has(home)) {
    const readout = document.createElement("p");
    readout.className = "readout faint";
    readout.textContent = "point at the picture, or go to it with Tab and use the arrow keys";
    if (home.matches("figure")) home.prepend(readout);
    else home.before(readout);
    readouts.set(home, readout);
  }
  return readouts.get(home);
};

const far = ({ boxes }, x, y) => Math.min(...boxes.map(([left, top, wide, high]) =>
  Math.hypot(Math.max(left - x, 0, x - left - wide), Math.max(top - y, 0, y - top - high))));

for (const chart of document.querySelectorAll("svg[data-at], svg[data-spots]")) {
  const found = places(chart);
  if (!found.length) continue;
  const readout = readoutOf(chart.closest("figure, .box"));
  const cursor = chart.querySelector(".cursor");
  const below = Number(chart.dataset.below || -1);
  let now = -1;
  const say = (at, says) => {
    now = at;
    const box = ([left, top, wide, high]) => "M" + left + " " + top + "h" + wide + "v" + high + "h" + -wide + "z";
    cursor.setAttribute("d", found[now].boxes.map(box).join(""));
    readout.textContent = says;
    chart.setAttribute("aria-valuenow", now);
    chart.setAttribute("aria-valuetext", says);
  };
  const go = (at) => {
    const near = Math.max(0, Math.min(found.length - 1, at));
    say(near, found[near].says);
  };
  const leave = () => cursor.setAttribute("d", "");
  chart.setAttribute("role", "slider");
  chart.setAttribute("tabindex", "0");
  chart.setAttribute("aria-valuemin", "0");
  chart.setAttribute("aria-valuemax", found.length - 1);
  chart.setAttribute("aria-valuenow", "0");
  chart.addEventListener("pointermove", (event) => {
    const { left, top, width, height } = chart.getBoundingClientRect();
    const view = chart.viewBox.baseVal;
    const [x, y] = [((event.clientX - left) * view.width) / width, ((event.clientY - top) * view.height) / height];
    const all = found.map((place) => far(place, x, y));
    const least = all.reduce((a, b) => Math.min(a, b));
    // Rows of one place, such as conditions, are read together.
    const same = found.filter((_, at) => all[at] === least).map(({ says }) => says);
    say(all.indexOf(least), same.join("; "));
  });
  chart.addEventListener("pointerleave", leave);
  chart.addEventListener("focus", () => go(now));
  chart.addEventListener("blur", leave);
  chart.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -below, ArrowDown: below, PageUp: 10, PageDown: -10 };
    if (event.key in steps) go(now + steps[event.key]);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(found.length - 1);
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
