// What a reader by keyboard, with a screen reader or on a telephone would miss on this page.
const pictures = [...document.querySelectorAll("svg:not(.key)")].filter((svg) => svg.checkVisibility());
const name = (svg) => svg.getAttribute("aria-label") || "";
const home = (svg) => svg.closest("figure") || svg.closest(".box");
const readout = (svg) => {
  const figure = svg.closest("figure");
  return figure ? figure.querySelector(".readout") : home(svg)?.previousElementSibling;
};

const faults = [];
const wide = document.documentElement.scrollWidth;
if (wide > document.documentElement.clientWidth) faults.push("the page is " + wide + " pixels wide");
for (const svg of pictures) {
  const table = home(svg)?.querySelector("table");
  if (!name(svg)) faults.push("a picture has no name");
  if (!table?.caption?.textContent) faults.push(name(svg) + ": no table with a caption");
  else if (![...table.querySelectorAll("th")].every((head) => head.scope)) faults.push(name(svg) + ": no scopes");
  else if (svg.closest("figure") && !(svg.compareDocumentPosition(table) & 4)) faults.push(name(svg) + ": table before it");
  const { at, says } = svg.dataset;
  const rows = says ? says.split("\n").length : table?.tBodies[0].rows.length;
  if (at && at.split(" ").length !== rows) faults.push(name(svg) + ": " + at.split(" ").length + " places, " + rows + " rows");
}

// Goes to what Tab leaves for this picture.
const before = (number) => {
  const focusable = [...document.querySelectorAll("button,summary,[tabindex]")].filter((node) => node.checkVisibility());
  const here = focusable.indexOf(pictures[number]);
  if (here > 0) focusable[here - 1].focus();
};

// After Tab and an arrow key.
const byKeyboard = (number) => {
  const svg = pictures[number];
  if (document.activeElement !== svg) return [name(svg) + ": Tab does not reach it"];
  const says = svg.getAttribute("aria-valuetext");
  return says && readout(svg)?.textContent === says ? [] : [name(svg) + ": an arrow key shows no value"];
};

const middle = (number) => {
  const svg = pictures[number];
  svg.scrollIntoView({ block: "center", inline: "center" });
  if (readout(svg)) readout(svg).textContent = "";
  const { left, top, width, height } = svg.getBoundingClientRect();
  return [left + width / 2, Math.max(1, Math.min(898, top + height / 2))];
};

// After the pointer is in the middle.
const byPointer = (number) =>
  readout(pictures[number])?.textContent ? [] : [name(pictures[number]) + ": the pointer shows no value"];

[faults, pictures.length];
