// The front: points come from the server, limits are applied here, arrow keys move along the points.
import { base, bring, forPage, inTurn, place, send, announce } from "./studio.js";
import { draw, onLooks } from "./charts.js";

const chart = document.getElementById("front-chart"), walk = document.getElementById("walk"), now = document.getElementById("walk-now");
const body = document.querySelector("#front-table tbody"), panel = document.getElementById("panel");
const loss = document.getElementById("limit-loss"), risk = document.getElementById("limit-risk");
const pin = document.getElementById("pin"), choose = document.getElementById("choose");
let touched = false; // until a solution is selected, the default is shown
let sliding = false; // a limit is being moved here: what another tab set must not pull it back
let view = null, points = [], pins = [], chosen = null, selected = null, fallback = null, offers = [];

const inside = (p) => p.loss <= Number(loss.value) && p.risk <= Number(risk.value);
const front = () => points.filter((p) => p.standing === "front");
const round = (x) => x === null || x === undefined ? "–" : Number.isInteger(x) ? String(x) : x.toPrecision(3);
const percent = (x) => x === null || x === undefined ? "–" : x > 0 && x < .05 ? "<0.1" : x.toFixed(1);

const fetchPoints = inTurn(async () => {
  const response = await bring(base + "/front.json");
  if (!response?.ok) return;
  const content = await response.json();
  ({ points, pins, chosen, offers, default: fallback } = content);
  document.getElementById("front-summary").textContent = content.summary;
  document.getElementById("offers").replaceChildren(...offers.map((o) => Object.assign(document.createElement("li"), { className: "yes", textContent: `${o.title}, solution ${o.number}: ${o.why}` })));
  document.getElementById("outdated").hidden = !content.outdated;
  for (const id of ["found", "onward"]) document.getElementById(id).hidden = !points.length;
  buttons(content.status);
  const best = chosen ?? fallback, quiet = content.status.state !== "running"; // while it runs, the panel does not jump
  if (best !== null && (selected === null || (!touched && quiet && selected !== best))) select(best, false);
  for (const [axis, slider] of [["loss", loss], ["risk", risk]]) if (!sliding) slider.value = content.limits[axis] ?? 100;
  refresh();
  if (!view) redraw();
});

function marks() {
  const of = (number, mark, size) => points.filter((p) => p.number === number).map((p) => ({ ...p, mark, size }));
  return [...of(selected, "selected", 330), ...pins.flatMap((n) => of(n, "pinned", 210)), ...of(chosen, "chosen", 150)];
}

function refresh() {
  applyLimits();
  table();
  held();
}

/** What the chart shows now: the points, the shaded rectangle and the rings. */
function datasets() {
  const most = { x: Number(loss.value), y: Number(risk.value) };
  const top = { x: Math.max(1, ...points.map((p) => p.loss)), y: Math.max(1, ...points.map((p) => p.risk)) };
  const bright = points.map((p) => ({ ...p, bright: inside(p) && (p.standing === "front" || p.standing === "baseline") }));
  const open = most.x >= 100 && most.y >= 100;
  return { points: bright, allowed: [{ on: !open, x0: 0, x1: Math.min(most.x, top.x), y0: 0, y1: Math.min(most.y, top.y) }], marked: marks() };
}

function applyLimits() {
  document.getElementById("limit-loss-now").textContent = `${loss.value} %`;
  document.getElementById("limit-risk-now").textContent = `${risk.value} %`;
  const kept = front().filter(inside).length;
  document.getElementById("limit-message").textContent = `${kept} of ${front().length} solutions on the front keep both limits.`;
  if (!view) return;
  for (const [name, values] of Object.entries(datasets())) view.data(name, values);
  view.runAsync();
}

function table() {
  const rows = new Map([...body.rows].map((row) => [Number(row.dataset.number), row]));
  const seen = new Set();
  let before = null;
  for (const p of points) {
    if (p.standing !== "front" && p.standing !== "baseline" && seen.size > 200) continue;
    seen.add(p.number);
    const row = rows.get(p.number) ?? newRow(p);
    const cells = [null, percent(p.loss), percent(p.risk), round(p.k), percent(p.suppressed), p.method, words(p)];
    cells.forEach((text, at) => { if (text !== null && row.cells[at].textContent !== text) row.cells[at].textContent = text; });
    row.setAttribute("aria-selected", String(p.number === selected));
    row.classList.toggle("dim", !inside(p) || p.standing === "beaten" || p.standing === "not releasable");
    const next = () => before ? before.nextSibling : body.firstChild;
    // A row that is moved loses the focus, so the others make way for the one that has it.
    if (row.contains(document.activeElement)) while (next() !== row) body.append(next());
    else if (next() !== row) body.insertBefore(row, next());
    before = row;
  }
  for (const [number, row] of rows) if (!seen.has(number) && !row.contains(document.activeElement)) row.remove();
}

function words(p) {
  return [p.standing, ...offers.filter((o) => o.number === p.number).map((o) => o.title.toLowerCase()), p.ruined.length ? `ruined: ${p.ruined.join(" ")}` : "", pins.includes(p.number) ? "pinned" : "", p.number === chosen ? "chosen" : ""].filter(Boolean).join(", ");
}

function newRow(p) {
  const row = document.createElement("tr");
  row.dataset.number = p.number;
  for (let at = 0; at < 7; at += 1) row.append(document.createElement("td"));
  for (let at = 0; at < 5; at += 1) row.cells[at].className = "n";
  const button = Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: p.number });
  button.setAttribute("aria-label", `Select solution ${p.number}`);
  row.cells[0].append(button);
  row.addEventListener("click", () => select(p.number));
  return row;
}

let asked = 0;
async function select(number, say = true) {
  selected = number;
  touched ||= say;
  const p = points.find((each) => each.number === number);
  if (p && say) now.textContent = `Solution ${number}, ${p.method}, ${p.standing}: ${percent(p.loss)} % loss, ${percent(p.risk)} % risk. ${p.words}`;
  refresh();
  panel.setAttribute("aria-busy", "true");
  const mine = asked += 1;
  await new Promise((resolve) => { setTimeout(resolve, 120); });
  if (mine !== asked) return;
  const response = await bring(`${base}/solution/${number}`);
  if (mine !== asked) return;
  if (!response?.ok) { panel.removeAttribute("aria-busy"); return; }
  place(panel, await response.text());
  await new Promise((resolve) => { setTimeout(resolve, 250); });
  if (mine !== asked) return;
  const description = document.getElementById("description");
  const answered = await bring(`${base}/solution/${number}/description`);
  if (mine !== asked || !answered) return;
  if (answered.ok) place(description, await answered.text());
  else { description.removeAttribute("aria-busy"); description.textContent = await answered.text(); }
}

function held() {
  for (const button of [pin, choose]) button.disabled = selected === null;
  pin.firstChild.textContent = pins.includes(selected) ? "Unpin " : "Pin ";
  choose.setAttribute("aria-pressed", String(selected !== null && selected === chosen));
  document.getElementById("panel-title").textContent = selected === null ? "Solution" : `Solution ${selected}`;
}

function step(by) {
  const line = front().length ? front() : points;
  if (!line.length) return;
  const at = line.findIndex((p) => p.number === selected);
  select(line[at < 0 ? 0 : Math.min(line.length - 1, Math.max(0, at + by))].number);
}

async function act(address) {
  if (selected === null) { announce("Select a solution first."); return; }
  touched = true;
  if (await send(`${base}${address}/${selected}`, {})) fetchPoints();
}
const pinOrNot = () => act(pins.includes(selected) ? "/unpin" : "/pin");

function buttons(status) {
  const going = status.state === "running" || status.state === "reading";
  document.getElementById("start").disabled = going;
  document.getElementById("start").textContent = status.state === "paused" || status.state === "ended" ? "Continue" : status.state === "finished" ? "Start again" : "Start";
  document.getElementById("start").closest("form").hidden = status.state === "finished" && document.getElementById("outdated").hidden;
  document.getElementById("pause").disabled = !going;
  document.getElementById("keep").disabled = !front().length;
  document.getElementById("extend").closest("form").hidden = status.state !== "finished";
  const used = document.getElementById("used");
  used.hidden = !going;
  if (status.used === null || status.used === undefined) used.removeAttribute("value"); else used.value = status.used;
}

document.addEventListener("keydown", (event) => {
  if (!forPage(event)) return;
  const arrows = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  const vertical = event.key === "ArrowDown" || event.key === "ArrowUp";
  if (event.key in arrows && (!vertical || document.activeElement === walk)) { event.preventDefault(); step(arrows[event.key]); }
  else if (event.key === "p") pinOrNot();
  else if (event.key === "c") act("/choose");
});
pin.addEventListener("click", pinOrNot);
choose.addEventListener("click", () => act("/choose"));
document.getElementById("previous").addEventListener("click", () => step(-1));
document.getElementById("next").addEventListener("click", () => step(1));
for (const slider of [loss, risk]) {
  slider.addEventListener("input", () => { sliding = true; refresh(); });
  slider.addEventListener("change", async () => { await send(base + "/limits", { loss: loss.value, risk: risk.value }); sliding = false; });
}
document.addEventListener("status", (event) => buttons(event.detail));
document.addEventListener("changed", fetchPoints);

async function redraw() {
  if (!chart.offsetParent || !points.length) return;
  view = await draw(chart, (spec) => ({ ...spec, datasets: datasets() }));
  view.addEventListener("click", (event, item) => { if (item?.datum?.number) select(item.datum.number); });
  applyLimits();
}
onLooks(redraw);
document.addEventListener("twins", (event) => { if (!event.detail && !view) redraw(); });
await fetchPoints();
document.body.dataset.ready = "yes";
