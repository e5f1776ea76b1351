// Line charts as SVG: axes with round numbers, several curves, and the values under the pointer.
"use strict";

const svgElement = (name, attributes = {}, text) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
};

const element = (name, className, text) => {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};

const short = (value) => {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e6) return (value / 1e6).toFixed(size >= 1e7 ? 0 : 1) + " M";
  if (size >= 1e4) return Math.round(value / 1e3) + " k";
  if (size >= 100 || (size >= 1 && Number.isInteger(value))) return String(Math.round(value));
  if (size !== 0 && size < 1e-3) return value.toExponential(1);
  return String(Number(value.toPrecision(3)));
};

/** Returns round numbers from low to high, about `count` of them. */
function ticks(low, high, count) {
  const raw = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((factor) => raw <= factor * power * 1.0001);
  const list = [];
  for (let tick = Math.ceil(low / step - 1e-9) * step; tick <= high + step * 1e-6; tick += step)
    list.push(Math.abs(tick) < step * 1e-6 ? 0 : tick);
  return list;
}

class Chart {
  /** `parent` gets a card with this title. */
  constructor(parent, title) {
    this.card = element("section", "card chart");
    this.card.append(element("h2", "", title));
    this.frame = element("div", "chart");
    this.svg = svgElement("svg", { role: "img", "aria-label": title });
    this.tip = element("div", "tip");
    this.tip.hidden = true;
    this.legend = element("ul", "legend");
    this.frame.append(this.svg, this.tip);
    this.card.append(this.frame, this.legend);
    parent.append(this.card);
    this.curves = [];
    this.pointer = null;
    this.svg.addEventListener("pointermove", (event) => this.point(event));
    this.svg.addEventListener("pointerleave", () => { this.pointer = null; this.draw(); });
    new ResizeObserver(() => this.draw()).observe(this.frame);
  }

  /** `curves`: [{name, points: [[step, value], ...], faint}]. */
  show(curves) {
    this.curves = curves.map((curve) => ({ ...curve, points: curve.points.filter((point) => Number.isFinite(point[1])) }));
    this.legend.replaceChildren(...this.curves.map((curve, i) => {
      const item = element("li");
      const last = curve.points.at(-1);
      item.append(element("span", "swatch k" + i), `${curve.name} ${last ? short(last[1]) : "–"}`);
      return item;
    }));
    this.draw();
  }

  point(event) {
    this.pointer = event.clientX - this.svg.getBoundingClientRect().left;
    this.draw();
  }

  draw() {
    const width = this.svg.clientWidth || 480, height = this.svg.clientHeight || 240;
    const left = 48, right = 12, top = 8, bottom = 24;
    const points = this.curves.flatMap((curve) => curve.points);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.replaceChildren();
    this.tip.hidden = true;
    if (points.length === 0) {
      this.svg.append(svgElement("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, "nothing yet"));
      return;
    }
    const xs = points.map((point) => point[0]), ys = points.map((point) => point[1]);
    let [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    if (x0 === x1) { x0 = Math.max(0, x0 - 1); x1 += 1; }
    const room = (y1 - y0) * 0.05 || Math.abs(y1) * 0.1 || 1;
    y1 += room;
    y0 = y0 >= 0 && y0 - room < 0 ? 0 : y0 - room;
    const x = (value) => left + (value - x0) / (x1 - x0) * (width - left - right);
    const y = (value) => height - bottom - (value - y0) / (y1 - y0) * (height - top - bottom);
    for (const tick of ticks(y0, y1, height / 50))
      this.svg.append(svgElement("line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
        svgElement("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, short(tick)));
    for (const tick of ticks(x0, x1, width / 90))
      this.svg.append(svgElement("text", { x: x(tick), y: height - 6, "text-anchor": "middle" }, short(tick)));
    for (const [i, curve] of [...this.curves.entries()].reverse()) {  // the first one on top
      const path = curve.points.map((point, n) => `${n ? "L" : "M"}${x(point[0]).toFixed(1)} ${y(point[1]).toFixed(1)}`).join("");
      this.svg.append(svgElement("path", { class: `curve k${i}${curve.faint ? " faint" : ""}`, d: path }));
      if (curve.points.length === 1)
        this.svg.append(svgElement("circle", { class: "k" + i, cx: x(curve.points[0][0]), cy: y(curve.points[0][1]), r: 2.5, "stroke-width": 2, fill: "none" }));
    }
    if (this.pointer !== null) this.tell(x0 + (this.pointer - left) / (width - left - right) * (x1 - x0), x, y, top, height - bottom, width);
  }

  /** Shows the values of all curves near a step. */
  tell(step, x, y, top, bottom, width) {
    const near = this.curves.map((curve) => curve.points.reduce((best, point) =>
      best === null || Math.abs(point[0] - step) < Math.abs(best[0] - step) ? point : best, null));
    const at = near.filter(Boolean).reduce((best, point) => best === null || Math.abs(point[0] - step) < Math.abs(best[0] - step) ? point : best, null);
    if (!at) return;
    this.svg.append(svgElement("line", { class: "cross", x1: x(at[0]), x2: x(at[0]), y1: top, y2: bottom }));
    this.tip.replaceChildren(element("div", "quiet", "step " + at[0]));
    near.forEach((point, i) => {
      if (!point) return;
      this.svg.append(svgElement("circle", { class: "k" + i, cx: x(point[0]), cy: y(point[1]), r: 3, "stroke-width": 2, fill: "none" }));
      const line = element("div", "");
      line.append(`${this.curves[i].name}  ${Number(point[1].toPrecision(5))}`);
      this.tip.append(line);
    });
    this.tip.hidden = false;
    const place = x(at[0]);
    this.tip.style.left = place > width / 2 ? "auto" : `${place + 12}px`;
    this.tip.style.right = place > width / 2 ? `${width - place + 12}px` : "auto";
    this.tip.style.top = "12px";
  }
}
