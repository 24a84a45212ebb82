// The front as a picture: loss to the right, risk upwards; what may be released, or everything.
const NS = "http://www.w3.org/2000/svg";
const MARGIN = { left: 52, right: 18, top: 14, bottom: 40 };
const MOST = 100; // beyond it a column says less than its distribution: such solutions are marked on the edge
const root = (x) => Math.sqrt(Math.max(0, x));

function make(parent, name, attributes = {}, text = "") {
  const element = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text) element.textContent = text;
  parent.append(element);
  return element;
}

/** Round steps between two ends, at most about so many. */
function ticks(low, high, most) {
  const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? power;
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step / 1e6; at += step) found.push(Number(at.toPrecision(6)));
  return found;
}

/** Solutions that no other one beats in both figures, by rising loss. */
export function nonDominated(points) {
  const sorted = [...points].sort((a, b) => a.loss - b.loss || a.risk - b.risk), kept = [];
  for (const p of sorted) if (!kept.length || p.risk < kept.at(-1).risk) kept.push(p);
  return kept;
}

export class FrontChart {
  /** `tell(point)` gives the sentence of a point; `select(number)` and `boxed(box or null)` are called for clicks and boxes. */
  constructor(element, { select, boxed, tell }) {
    Object.assign(this, { element, select, boxed, tell, content: { points: [] }, zoom: "releasable", box: null });
    this.svg = make(element, "svg", { class: "front-picture", "aria-hidden": "true" });
    this.tip = Object.assign(document.createElement("p"), { className: "tip", hidden: true });
    element.append(this.tip);
    this.svg.addEventListener("pointermove", (event) => this.#hover(event));
    this.svg.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    this.svg.addEventListener("click", (event) => {
      const number = event.target.dataset?.number;
      if (number) this.select(Number(number));
    });
    this.#brush();
    new ResizeObserver(() => this.draw()).observe(element);
  }

  /** Show points, marks and limits; what is not given stays as it was. */
  show(content) {
    this.content = { ...this.content, ...content };
    this.draw();
  }

  /** Zoom to what may be released ("releasable"), to everything ("all"), or to the box that was drawn ("box"). */
  zoomTo(what) {
    this.zoom = what;
    this.draw();
  }

  #domain() {
    const { points, ghost = [] } = this.content;
    if (this.zoom === "box" && this.box) return this.box;
    const able = this.#shown(points), sound = able.filter((p) => !p.ruined.length || p.marked); // ruined ones lie far out: on the edge
    const shown = [...(this.zoom === "all" || !sound.length ? able : sound), ...ghost];
    if (!shown.length) return { x0: 0, x1: 100, y0: 0, y1: 100 };
    const xs = shown.map((p) => p.loss), ys = shown.map((p) => p.risk);
    const wide = Math.max(Math.max(...xs) - Math.min(...xs), 1);
    const x0 = Math.max(0, Math.min(...xs, MOST - 1) - .06 * wide), x1 = Math.min(MOST, Math.max(...xs) + .06 * wide);
    return { x0, x1, y0: 0, y1: 1.12 * Math.max(...ys, .5) };
  }

  /** What may be released, and what is marked; everything if that is asked for, or nothing may be released yet. */
  #shown(points) {
    const able = points.filter((p) => p.releasable);
    return this.zoom === "all" || !able.length ? points : points.filter((p) => p.releasable || p.marked);
  }

  draw() {
    const width = this.element.clientWidth, height = this.element.clientHeight;
    if (!width || !height) return;
    const { points, marks = [], limits = {}, ghost = [], dots = [], last = Infinity } = this.content;
    const d = this.domain = this.#domain();
    const right = width - MARGIN.right, bottom = height - MARGIN.bottom;
    this.x = (loss) => MARGIN.left + (right - MARGIN.left) * (loss - d.x0) / (d.x1 - d.x0 || 1);
    this.y = (risk) => bottom - (bottom - MARGIN.top) * (root(risk) - root(d.y0)) / (root(d.y1) - root(d.y0) || 1);
    this.lossAt = (x) => d.x0 + (d.x1 - d.x0) * (x - MARGIN.left) / (right - MARGIN.left);
    this.riskAt = (y) => (root(d.y0) + (root(d.y1) - root(d.y0)) * (bottom - y) / (bottom - MARGIN.top)) ** 2;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.replaceChildren();
    this.#axes(d, width, right, bottom);
    const within = (p) => p.loss >= d.x0 && p.loss <= d.x1 && p.risk >= d.y0 && p.risk <= d.y1;
    if (limits.loss < 100 || limits.risk < 100) {
      const x = Math.min(right, this.x(Math.min(limits.loss ?? 100, d.x1))), y = Math.max(MARGIN.top, this.y(Math.min(limits.risk ?? 100, d.y1)));
      make(this.svg, "rect", { class: "allowed", x: MARGIN.left, y, width: Math.max(0, x - MARGIN.left), height: Math.max(0, bottom - y) });
    }
    const seen = this.#shown(points).filter((p) => p.number <= last);
    const found = seen.filter((p) => p.releasable && p.standing !== "baseline"), sound = found.filter((p) => !p.ruined.length);
    const front = last === Infinity ? found.filter((p) => p.standing === "front") : nonDominated(found);
    this.labels = [];
    if (last === Infinity) this.#dots(dots.filter(([loss, risk]) => within({ loss, risk })));
    this.#line(nonDominated(ghost), "ghost-line");
    for (const p of ghost) if (within(p)) make(this.svg, "circle", { class: "ghost", cx: this.x(p.loss), cy: this.y(p.risk), r: 4 });
    this.#line(nonDominated(sound.length ? sound : found), "front-line");
    const on = new Set(front.map((p) => p.number));
    const order = (p) => on.has(p.number) ? 2 : p.standing === "baseline" ? 1 : 0;
    for (const p of [...seen].sort((a, b) => order(a) - order(b))) {
      if (within(p)) this.#point(p, on.has(p.number));
      else this.#edge(p, right, bottom);
    }
    for (const p of this.labels) this.#label(p);
    for (const mark of marks) {
      const p = points.find((each) => each.number === mark.number);
      if (p && within(p)) make(this.svg, "circle", { class: `ring ${mark.mark}`, cx: this.x(p.loss), cy: this.y(p.risk), r: mark.mark === "selected" ? 11 : 8 });
    }
    this.rubber = make(this.svg, "rect", { class: "rubber", width: 0, height: 0 });
    if (this.box && this.zoom !== "box") this.#place(this.rubber, this.box);
  }

  #axes(d, width, right, bottom) {
    for (const at of ticks(d.x0, d.x1, width / 90)) {
      make(this.svg, "line", { class: "grid-line", x1: this.x(at), x2: this.x(at), y1: MARGIN.top, y2: bottom });
      make(this.svg, "text", { class: "tick", x: this.x(at), y: bottom + 16, "text-anchor": "middle" }, String(at));
    }
    let above = -Infinity;
    for (const at of [100, 75, 50, 30, 20, 10, 5, 2, 1, .5, .2, .1].filter((each) => each > d.y0 && each <= d.y1 && this.y(each) < bottom - 12)) {
      if (this.y(at) - above < 16) continue;
      above = this.y(at);
      make(this.svg, "line", { class: "grid-line", x1: MARGIN.left, x2: right, y1: this.y(at), y2: this.y(at) });
      make(this.svg, "text", { class: "tick", x: MARGIN.left - 6, y: this.y(at) + 4, "text-anchor": "end" }, String(at));
    }
    make(this.svg, "line", { class: "axis", x1: MARGIN.left, x2: right, y1: bottom, y2: bottom });
    make(this.svg, "text", { class: "title", x: (MARGIN.left + right) / 2, y: bottom + 34, "text-anchor": "middle" }, "information lost, %");
    make(this.svg, "text", { class: "title", x: -(MARGIN.top + bottom) / 2, y: 13, transform: "rotate(-90)", "text-anchor": "middle" }, "people found by the intruder, %");
  }

  /** Candidates that were tried: one path for each colour, so that thousands cost as little as one. */
  #dots(dots) {
    const paths = new Map();
    for (const [loss, risk, colour] of dots) paths.set(colour, `${paths.get(colour) ?? ""}M${this.x(loss).toFixed(1)},${this.y(risk).toFixed(1)}h0`);
    for (const [colour, d] of paths) make(this.svg, "path", { class: `tried m${colour}`, d });
  }

  #line(points, kind) {
    if (points.length < 2) return;
    const d = this.domain, clip = (p) => [Math.min(Math.max(p.loss, d.x0), d.x1), Math.min(Math.max(p.risk, d.y0), d.y1)];
    const path = points.map((p, at) => { const [x, y] = clip(p); return at ? `H${this.x(x)}V${this.y(y)}` : `M${this.x(x)},${this.y(y)}`; }).join("");
    make(this.svg, "path", { class: kind, d: path });
  }

  #point(p, on) {
    const x = this.x(p.loss), y = this.y(p.risk), colour = `m${p.colour}`, dim = p.outside ? " outside" : "";
    const data = { "data-number": p.number };
    if (p.standing === "baseline") {
      make(this.svg, "rect", { class: `pt base${p.releasable ? "" : " barred"} ${colour}${dim}`, x: x - 5, y: y - 5, width: 10, height: 10, ...data });
      this.labels.push(p);
    } else if (!p.releasable) make(this.svg, "path", { class: `pt never ${colour}${dim}`, d: `M${x - 4},${y - 4}l8,8m0,-8l-8,8`, ...data });
    else if (p.ruined.length) make(this.svg, "path", { class: `pt ruined ${on ? "on" : "beaten"} ${colour}${dim}`, d: `M${x},${y - 7}l7,7l-7,7l-7,-7z`, ...data });
    else make(this.svg, "circle", { class: `pt ${on ? "on" : "beaten"} ${colour}${dim}`, cx: x, cy: y, r: on ? 6 : 3.5, ...data });
  }

  /** The name of a baseline, where it covers the fewest points: beside it, above or below. */
  #label(p) {
    const x = this.x(p.loss), y = this.y(p.risk), long = 7 * p.method.length, right = this.element.clientWidth - MARGIN.right;
    const places = [[x + 9, y + 4], [x - 9 - long, y + 4], [x + 4, y - 9], [x + 4, y + 19], [x - 4 - long, y - 9], [x - 4 - long, y + 19]]
      .filter(([left, base]) => left > MARGIN.left && left + long < right && base > MARGIN.top);
    const covered = ([left, base]) => this.content.points.filter((q) => q !== p && this.x(q.loss) > left - 6 && this.x(q.loss) < left + long + 6 && this.y(q.risk) > base - 16 && this.y(q.risk) < base + 6).length;
    const [left, base] = places.reduce((a, b) => covered(b) < covered(a) ? b : a, places[0] ?? [x + 9, y + 4]);
    make(this.svg, "text", { class: "label", x: left, y: base }, p.method);
  }

  /** A small arrow on the edge, towards a point that is not in the picture. */
  #edge(p, right, bottom) {
    const d = this.domain, x = this.x(Math.min(Math.max(p.loss, d.x0), d.x1)), y = this.y(Math.min(Math.max(p.risk, d.y0), d.y1));
    const shape = p.risk > d.y1 ? `M${x - 5},${MARGIN.top + 8}h10l-5,-8z` : p.loss > d.x1 ? `M${right - 8},${y - 5}v10l8,-5z`
      : p.loss < d.x0 ? `M${MARGIN.left + 8},${y - 5}v10l-8,-5z` : `M${x - 5},${bottom - 8}h10l-5,8z`;
    make(this.svg, "path", { class: `pt edge m${p.colour}`, d: shape, "data-number": p.number });
  }

  #hover(event) {
    const p = this.content.points.find((each) => String(each.number) === event.target.dataset?.number);
    this.tip.hidden = !p;
    if (!p) return;
    this.tip.textContent = this.tell(p);
    const box = this.element.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    this.tip.style.left = `${Math.min(Math.max(4, x + 12), box.width - this.tip.offsetWidth - 4)}px`;
    this.tip.style.top = `${y + 16 + this.tip.offsetHeight > box.height ? y - this.tip.offsetHeight - 10 : y + 16}px`;
  }

  #place(rubber, box) {
    const x = this.x(box.x0), y = this.y(box.y1);
    for (const [key, value] of Object.entries({ x, y, width: Math.max(0, this.x(box.x1) - x), height: Math.max(0, this.y(box.y0) - y) })) rubber.setAttribute(key, value);
  }

  #brush() {
    let from = null, moved = false;
    const where = (event) => { const box = this.svg.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    const between = (a, b) => ({ x0: this.lossAt(Math.min(a[0], b[0])), x1: this.lossAt(Math.max(a[0], b[0])), y0: this.riskAt(Math.max(a[1], b[1])), y1: this.riskAt(Math.min(a[1], b[1])) });
    this.svg.addEventListener("pointerdown", (event) => {
      if (event.target.dataset?.number || event.button) return;
      from = where(event);
      moved = false;
      this.svg.setPointerCapture(event.pointerId);
    });
    this.svg.addEventListener("pointermove", (event) => {
      if (!from) return;
      const to = where(event);
      moved ||= Math.hypot(to[0] - from[0], to[1] - from[1]) > 6;
      if (moved) this.#place(this.rubber, between(from, to));
    });
    this.svg.addEventListener("pointerup", (event) => {
      if (!from) return;
      this.setBox(moved ? between(from, where(event)) : null);
      from = null;
    });
  }

  /** Mark a box of losses and risks, or none. */
  setBox(box) {
    this.box = box && { x0: Math.max(0, box.x0), x1: box.x1, y0: Math.max(0, box.y0), y1: box.y1 };
    if (!box && this.zoom === "box") this.zoom = "releasable";
    this.draw();
    this.boxed(this.box);
  }
}
