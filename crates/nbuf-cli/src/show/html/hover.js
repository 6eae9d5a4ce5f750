// Reads the curve where the pointer is. The page says everything without it.
for (const chart of document.querySelectorAll("svg[data-points]")) {
  const points = JSON.parse(chart.dataset.points);
  const cursor = chart.querySelector(".cursor");
  const readout = chart.closest("figure").querySelector(".readout");
  chart.addEventListener("pointermove", (event) => {
    const box = chart.getBoundingClientRect();
    const x = ((event.clientX - box.left) * chart.viewBox.baseVal.width) / box.width;
    const far = (point) => Math.abs(point[0] - x);
    const near = points.reduce((best, point) => (far(best) > far(point) ? point : best));
    cursor.setAttribute("d", "M" + near[0] + " " + chart.dataset.top + "V" + chart.dataset.ground);
    readout.textContent = near[1];
  });
  chart.addEventListener("pointerleave", () => cursor.setAttribute("d", ""));
}
