// Explore: points come from the server; the picture, the table, the offers and the panel show the same selection.
import { announce, base, bring, forPage, inTurn, place, send } from "./studio.js";
import { FrontChart, nonDominated } from "./front_chart.js";

const at = (id) => document.getElementById(id);
const walk = at("walk"), now = at("walk-now"), body = document.querySelector("#front-table tbody"), panel = at("panel");
const loss = at("limit-loss"), risk = at("limit-risk"), pin = at("pin"), choose = at("choose"), replay = at("replay");
let searching = false; // whether a search runs
let touched = false; // until a solution is selected, the default is shown
let sliding = false; // a limit is being moved here: what another tab set must not pull it back
let run = null, ghost = [], oldFront = [], steering = { asked: [], wishes: [], in_plan: [], searches: [], dropped: [] };
let uses = []; // names of the declared analyses
let points = [], pins = [], chosen = null, selected = null, fallback = null, offers = [], shownInPanel = null;
let methods = [], standings = {}; // what finds solutions, and what each standing means
let third = false; // whether the analyses of the plan are an aim beside loss and people found
let column = null; // whose figures stand beside the bars; the same one from solution to solution

const keeps = (slider, value) => slider.value === slider.max || value <= Number(slider.value); // at its end a limit limits nothing
const inside = (p) => keeps(loss, p.loss) && keeps(risk, p.risk);
const front = () => points.filter((p) => p.standing === "front");
const round = (x) => x === null || x === undefined ? "–" : Number.isInteger(x) ? String(x) : x.toPrecision(3);
const percent = (x) => x === null || x === undefined ? "–" : x > 0 && x < .05 ? "<0.1" : x.toFixed(1);

function sentence(p) {
  const what = p.standing === "baseline" ? `${p.method}, without search` : `Solution ${p.number}, found by ${p.method}`;
  const ruined = p.ruined.length ? ` Ruined: ${p.ruined.join(", ")}.` : "", beyond = third ? "in loss, people found and analyses" : "in both";
  const fate = (p.releasable ? p.standing === "front" ? `It keeps every demand, and no other is better ${beyond}.` : "It keeps every demand." : "It breaks a demand and may not be released.") + ruined;
  return `${what}: ${percent(p.loss)} % of the information is lost, ${percent(p.risk)} % of the people are found, smallest class ${round(p.k)}. ${fate}`;
}

const picture = new FrontChart(at("front-chart"), {
  tell: sentence,
  select: (number) => select(number),
  boxed: (box) => {
    at("zoom-box").disabled = at("focus").disabled = !box;
    at("box-words").textContent = box ? boxWords(box) : "Draw a box in the picture to look into it.";
    document.dispatchEvent(new CustomEvent("boxed", { detail: box }));
    table();
  },
});

function boxWords(box) {
  const within = points.filter((p) => inBox(p, box)), may = within.filter((p) => p.releasable).length;
  return `${within.length} solutions with ${percent(box.x0)}–${percent(box.x1)} % lost and ${percent(box.y0)}–${percent(box.y1)} % found, ${may} of them keep every demand.`;
}
const inBox = (p, box) => p.loss >= box.x0 && p.loss <= box.x1 && p.risk >= box.y0 && p.risk <= box.y1;

const fetchPoints = inTurn(async () => {
  const response = await bring(base + "/explore.json");
  if (!response?.ok) return;
  const content = await response.json();
  if (run !== null && run !== content.run) anotherRun();
  ({ points, pins, chosen, offers, default: fallback, run, ghost, methods, standings, uses } = content);
  forgetChanged();
  showSteering(content.steering);
  showState(content);
  showOffers();
  legend();
  const numbers = points.map((p) => p.number), follows = Number(replay.value) >= Number(replay.max);
  replay.max = Math.max(1, ...numbers);
  if (follows) replay.value = replay.max;
  const best = chosen ?? fallback, quiet = content.status.state !== "running" || !reading(); // a panel that is read does not jump
  if (best !== null && (selected === null || (!touched && quiet && selected !== best))) select(best, false);
  else if (selected !== null && !points.some((p) => p.number === selected)) select(best, false);
  for (const [axis, slider] of [["loss", loss], ["risk", risk]]) if (!sliding) slider.value = content.limits[axis] ?? 100;
  refresh();
  if (content.status.state !== "running" || performance.now() - triedAt > 5000) fetchTried();
});

/** Candidates that were tried, now and then: there are many, and they say less than solutions. */
let triedAt = -Infinity;
const fetchTried = inTurn(async () => {
  const of = run;
  triedAt = performance.now();
  const response = await bring(base + "/explore/candidates.json");
  if (!response?.ok) return;
  const { dots, words } = await response.json();
  if (of !== run) return;
  at("tried").textContent = words;
  picture.show({ dots });
});

let headShown = "";
/** Header, banner, buttons and warnings, all from one state. */
function showState(content) {
  if (content.header !== headShown) at("head").innerHTML = headShown = content.header; // a word that is being explained stays
  const banner = at("front-summary");
  banner.textContent = content.summary.words;
  banner.className = `banner ${content.summary.level}`;
  at("problem").hidden = !content.problem;
  at("problem").textContent = content.problem;
  at("found").hidden = !points.length && !ghost.length;
  if (run) at("before")?.remove();
  at("closer").hidden = !points.length;
  at("caption").textContent = content.intruder;
  at("line-words").textContent = content.line;
  third = content.third;
  buttons(content.status);
}

/** What an offer loses, reveals and keeps; each figure is one word to the line. */
function figures(o) {
  const span = (text) => Object.assign(document.createElement("span"), { textContent: text });
  const texts = [`${percent(o.loss)} % lost`, `${percent(o.risk)} % found`, ...(o.kept === null ? [] : [`${percent(o.kept)} % of random analyses kept`]), ...(o.change === null ? [] : [`${uses.length > 1 ? "yours at most" : "yours"} ${percent(o.change)} % apart`])];
  const all = Object.assign(document.createElement("span"), { className: "figures" });
  all.append(...texts.flatMap((text, at) => at ? [" ", span(text)] : [span(text)])); // the space is for those who hear it
  return all;
}
function showOffers() {
  at("offers").replaceChildren(...offers.map((o) => {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "offer" });
    button.dataset.number = o.number;
    button.append(Object.assign(document.createElement("b"), { textContent: o.title }),
      Object.assign(document.createElement("small"), { textContent: `solution ${o.number}${o.number === chosen ? ", chosen" : ""}` }),
      figures(o));
    button.title = o.why;
    button.setAttribute("aria-pressed", String(o.number === selected));
    button.addEventListener("click", () => select(o.number));
    return button;
  }));
}

let legendShown = "";
function legend() {
  const shown = methods.filter((m) => points.some((p) => p.method === m.name) || steering.dropped.includes(m.name));
  const key = JSON.stringify([shown, steering.searches, steering.dropped]);
  if (key === legendShown) return; // a button that is in use stays
  legendShown = key;
  at("legend").replaceChildren(...shown.map((m) => {
    const item = document.createElement("li"), dropped = steering.dropped.includes(m.name);
    item.append(Object.assign(document.createElement("i"), { className: `swatch m${m.colour}` }), m.words ? defined("span", dropped ? "dropped" : "", m.name, m.words) : Object.assign(document.createElement("span"), { textContent: m.name, className: dropped ? "dropped" : "" }));
    if (steering.searches.includes(m.name)) {
      const button = Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: dropped ? "Restore" : "Drop" });
      const last = !dropped && steering.searches.every((name) => name === m.name || steering.dropped.includes(name));
      button.setAttribute("aria-label", `${button.textContent} ${m.name}`);
      button.setAttribute("aria-disabled", String(last));
      button.title = dropped ? `${m.name} searches again` : last ? `${m.name} is the only search that goes on; pause it instead` : `${m.name} searches no more; its solutions stay`;
      button.addEventListener("click", () => last ? announce(`${button.title}.`) : steer({ what: dropped ? "restore" : "drop", search: m.name }));
      item.append(button);
    }
    return item;
  }));
}

/** Ask something of the running search; its front so far stays in the picture as it was. */
async function steer(fields) {
  const sound = front().filter((p) => !p.ruined.length), before = (sound.length ? sound : front()).map(({ loss, risk }) => ({ loss, risk }));
  if (!await send(base + "/steer", fields)) return;
  if (fields.what === "focus" || fields.what === "more") oldFront = before;
  fetchPoints();
}

/** That something is obeyed, by its first search; the whole is one hover away. */
const short = (obeyed) => obeyed.split(", ")[0];

/** What is in force, with when it was obeyed; what is newly obeyed is announced. */
function showSteering(now) {
  const known = new Map(steering.asked.map((each) => [each.number, each.obeyed]));
  for (const each of now.asked) if (each.obeyed && known.get(each.number) === "") announce(`${each.words}: ${short(each.obeyed)}.`);
  steering = now;
  const undoable = [...now.wishes, ...now.asked.map((each) => `${each.words} (${short(each.obeyed) || "not obeyed yet"})`)];
  const words = [...now.in_plan.map((each) => `${each} (in the plan; Free beside its bar takes it back)`), ...undoable];
  at("in-force").replaceChildren(...words.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
  now.asked.forEach((each, place) => { at("in-force").children[words.length - now.asked.length + place].title = each.obeyed; });
  at("in-force-title").textContent = words.length ? "In force:" : "The dashed line is the front before the last change.";
  at("steering").hidden = !words.length && !oldFront.length;
  at("undo").hidden = !undoable.length;
  at("ghost-hide").hidden = !ghost.length && !oldFront.length;
}

/** Another search takes the place of the one that was shown: its solutions have numbers of their own. */
function anotherRun() {
  seen.clear();
  measuredOf.clear();
  selected = shownInPanel = null;
  touched = false;
  oldFront = [];
  replay.value = replay.max;
  picture.show({ dots: [] });
  picture.setBox(null);
  panel.replaceChildren(Object.assign(document.createElement("p"), { className: "soft", textContent: "The new search is starting …" }));
}

function marks() {
  return [...pins.map((number) => ({ number, mark: "pinned" })), ...(chosen === null ? [] : [{ number: chosen, mark: "chosen" }]), ...(selected === null ? [] : [{ number: selected, mark: "selected" }])];
}

function refresh() {
  at("limit-loss-now").textContent = `${loss.value} %`;
  at("limit-risk-now").textContent = `${risk.value} %`;
  at("limit-message").textContent = `${front().filter(inside).length} of ${front().length} solutions on the front keep both.`;
  const known = new Set([...pins, chosen, selected, ...offers.map((o) => o.number)]);
  const last = Number(replay.value) >= Number(replay.max) ? Infinity : Number(replay.value);
  const shown = points.map((p) => ({ ...p, outside: !inside(p), marked: known.has(p.number) }));
  picture.show({ points: shown, marks: marks(), limits: { loss: Number(loss.value), risk: Number(risk.value) }, last, ghost: oldFront.length ? oldFront : ghost });
  at("replay-now").textContent = last === Infinity ? "now" : `after ${points.filter((p) => p.number <= last).length} of ${points.length}`;
  table();
  held();
}

/** How far each declared analysis comes apart. */
const useText = (p) => p.uses.map((each, at) => uses.length > 1 ? `${uses[at]}: ${percent(each)}` : percent(each)).join("; ");

function table() {
  at("use-heading").hidden = !uses.length;
  const rows = new Map([...body.rows].map((row) => [Number(row.dataset.number), row]));
  const listed = new Set(), kept = points.filter((p) => !picture.box || inBox(p, picture.box));
  let before = null;
  for (const p of kept) {
    if (p.standing !== "front" && p.standing !== "baseline" && listed.size > 200) continue;
    listed.add(p.number);
    const row = rows.get(p.number) ?? newRow(p);
    const cells = [null, percent(p.loss), percent(p.risk), round(p.k), percent(p.suppressed), percent(p.kept), useText(p), p.method, words(p)];
    cells.forEach((text, place) => { if (text !== null && row.cells[place].textContent !== text) row.cells[place].textContent = text; });
    row.cells[6].hidden = !uses.length;
    row.setAttribute("aria-selected", String(p.number === selected));
    row.classList.toggle("dim", !inside(p) || p.standing === "beaten" || p.standing === "not releasable");
    const next = () => before ? before.nextSibling : body.firstChild;
    // A row that is moved loses the focus, so the others make way for the one that has it.
    if (row.contains(document.activeElement)) while (next() !== row) body.append(next());
    else if (next() !== row) body.insertBefore(row, next());
    before = row;
  }
  for (const [number, row] of rows) if (!listed.has(number) && !row.contains(document.activeElement)) row.remove();
  const stop = body.querySelector("tr[aria-selected=true] button") ?? body.querySelector("button"); // one tab stop for the whole table
  for (const button of body.querySelectorAll("button")) button.tabIndex = button === stop ? 0 : -1;
}

body.addEventListener("keydown", (event) => {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key], buttons = [...body.querySelectorAll("button")], here = buttons.indexOf(document.activeElement);
  if (!by || here < 0) return;
  event.preventDefault();
  event.stopPropagation();
  const there = buttons[Math.min(buttons.length - 1, Math.max(0, here + by))];
  for (const button of buttons) button.tabIndex = button === there ? 0 : -1;
  there.focus();
});

function words(p) {
  return [p.standing, ...offers.filter((o) => o.number === p.number).map((o) => o.title.toLowerCase()), p.ruined.length ? `ruined: ${p.ruined.join(" ")}` : "", pins.includes(p.number) ? "pinned" : "", p.number === chosen ? "chosen" : ""].filter(Boolean).join(", ");
}

function newRow(p) {
  const row = document.createElement("tr");
  row.dataset.number = p.number;
  for (let cell = 0; cell < 9; cell += 1) row.append(document.createElement("td"));
  for (let cell = 0; cell < 7; cell += 1) row.cells[cell].className = "n";
  const button = Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: p.number });
  button.setAttribute("aria-label", `Select solution ${p.number}`);
  row.cells[0].append(button);
  row.addEventListener("click", () => select(p.number));
  return row;
}

const seen = new Map(); // parts of the panel already fetched: what a solution is does not change, its standing is drawn from the points
async function part(address) {
  if (!seen.has(address)) {
    const response = await bring(base + address);
    if (!response) return null;
    if (!response.ok) return { problem: await response.text() };
    seen.set(address, await response.text());
  }
  return { html: seen.get(address) };
}
/** Whether somebody is at the panel now. */
const reading = () => panel.parentElement.matches(":hover, :focus-within");
/** What was measured since of a solution that was shown is fetched anew; the open panel is filled again in its place. */
const measuredOf = new Map();
function forgetChanged() {
  for (const p of points) {
    const before = measuredOf.get(p.number);
    measuredOf.set(p.number, p.measured);
    if (before === undefined || before === p.measured) continue;
    for (const address of [...seen.keys()]) if (address === `/solution/${p.number}` || address.startsWith(`/solution/${p.number}/`)) seen.delete(address);
    if (p.number === shownInPanel && p.number === selected) select(p.number, false);
  }
}
let asked = 0;
async function select(number, say = true) {
  selected = number;
  touched ||= say;
  const p = points.find((each) => each.number === number);
  if (p && say) now.textContent = sentence(p);
  for (const button of at("offers").children) button.setAttribute("aria-pressed", String(Number(button.dataset.number) === number));
  refresh();
  const mine = asked += 1;
  if (!seen.has(`/solution/${number}`)) panel.setAttribute("aria-busy", "true");
  const found = await part(`/solution/${number}`);
  if (mine !== asked) return;
  if (!found?.html) { panel.removeAttribute("aria-busy"); return; }
  if (shownInPanel !== number) for (const each of document.querySelectorAll(".closer-part")) each.replaceChildren();
  shownInPanel = number;
  at("closer-number").textContent = number;
  place(panel, found.html); // title and figures change together
  held();
  showEstimates(column);
  // Nothing is decoded for a step on the way, nor compared for a best solution that the search may replace at once. The
  // comparison takes seconds of the studio, so that nothing is compared that nobody sees.
  for (const [id, after] of [["estimates", 100], ["description", searching && !touched ? 2000 : 250]]) {
    const address = `/solution/${number}/${id}`;
    if (!seen.has(address)) await new Promise((resolve) => { setTimeout(resolve, after); });
    if (mine !== asked || !at(id)) return; // the panel may show something else by now
    if (id === "description") await inView(at(id));
    if (mine !== asked || !at(id)) return;
    at(id).setAttribute("aria-busy", "true");
    const answered = await part(address);
    if (mine !== asked || !answered || !at(id)) return;
    if (answered.html !== undefined) place(at(id), answered.html);
    else { at(id).removeAttribute("aria-busy"); at(id).textContent = answered.problem; }
    showEstimates(column);
  }
}

/** Wait until a part of the page is seen. */
const inView = (element) => new Promise((resolve) => {
  const watch = new IntersectionObserver((entries) => { if (entries.some((each) => each.isIntersecting)) { watch.disconnect(); resolve(); } });
  watch.observe(element);
});

/** Standing and offers of the solution in the panel, from the same points as the picture and the banner. */
let tagsShown = "";
function tags() {
  const p = points.find((each) => each.number === shownInPanel), words = !p ? [] : [
    [p.standing === "baseline" ? p.method : `found by ${p.method}`, methods.find((m) => m.name === p.method)?.words], [p.standing, standings[p.standing]], ...offers.filter((o) => o.number === p.number).map((o) => [o.title.toLowerCase(), o.why])];
  if (JSON.stringify(words) === tagsShown) return; // one that has the focus stays
  tagsShown = JSON.stringify(words);
  at("panel-tags").replaceChildren(...words.map(([text, why]) => why ? defined("span", "tag", text, why) : Object.assign(document.createElement("span"), { className: "tag", textContent: text })));
}

/** A word with what it means, shown when it is pointed at or has the focus. */
function defined(element, kind, text, why) {
  const word = Object.assign(document.createElement(element), { className: `${kind} def`.trim(), textContent: text, tabIndex: 0 });
  const define = Object.assign(document.createElement("span"), { className: "define", textContent: why });
  define.setAttribute("role", "tooltip");
  word.append(define);
  return word;
}

/** The figures of one column before and after, beside its bar; of the one that loses most until one is chosen. */
function showEstimates(name, lasting = true) {
  const picks = [...panel.querySelectorAll(".pick")], into = at("column-estimates");
  if (!into || !picks.length) return;
  const worst = () => picks.reduce((a, b) => lost(b) > lost(a) ? b : a).dataset.column, lost = (pick) => pick.closest("dt").nextElementSibling.querySelector("meter").value;
  const shown = picks.some((pick) => pick.dataset.column === name) ? name : worst();
  for (const pick of picks) {
    if (lasting) { pick.setAttribute("aria-pressed", String(pick.dataset.column === shown)); pick.tabIndex = pick.dataset.column === shown ? 0 : -1; }
    pick.classList.toggle("shown", pick.dataset.column === shown);
  }
  const figures = [...panel.querySelectorAll("[data-estimates]")].find((each) => each.dataset.estimates === shown);
  const waits = panel.querySelector("#estimates[aria-busy]");
  into.replaceChildren(...(figures ? [...figures.cloneNode(true).childNodes] : [Object.assign(document.createElement("p"), { className: "soft", textContent: waits ? `${shown}: decoding …` : `${shown}: no figures of this column are compared.` })]));
}
panel.addEventListener("click", (event) => {
  const pick = event.target.closest(".pick"), wanted = event.target.closest("[data-distribution]");
  if (pick) showEstimates(column = pick.dataset.column);
  if (wanted) look(`${base}/look/${shownInPanel}/column?${new URLSearchParams({ name: wanted.dataset.distribution })}`, "look-column");
});
for (const kind of ["pointerover", "focusin"]) panel.addEventListener(kind, (event) => { const pick = barOf(event.target); if (pick) showEstimates(pick.dataset.column, false); });
panel.addEventListener("pointerout", (event) => { if (barOf(event.target) && !event.relatedTarget?.closest?.("#column-bars, #column-estimates")) showEstimates(column, false); });
/** The name of the column a part of its bar belongs to. */
function barOf(element) {
  let cell = element.closest?.("#column-bars > *");
  while (cell && cell.tagName !== "DT") cell = cell.previousElementSibling;
  return cell?.firstElementChild;
}
panel.addEventListener("keydown", (event) => {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key], picks = [...panel.querySelectorAll(".pick")], here = picks.indexOf(event.target);
  if (!by || here < 0) return;
  event.preventDefault();
  event.stopPropagation();
  const there = picks[Math.min(picks.length - 1, Math.max(0, here + by))];
  showEstimates(column = there.dataset.column);
  there.focus();
});

function held() {
  const able = points.find((p) => p.number === selected)?.releasable ?? false;
  pin.disabled = selected === null;
  choose.disabled = !able;
  choose.title = able || selected === null ? "" : `Solution ${selected} may not be released, so that it cannot be chosen`;
  at("more-like").disabled = !steering.searches.includes(points.find((p) => p.number === selected)?.method);
  pin.firstChild.textContent = pins.includes(selected) ? "Unpin " : "Pin ";
  const is = selected !== null && selected === chosen;
  choose.setAttribute("aria-pressed", String(is));
  choose.firstChild.textContent = is ? "Chosen " : "Choose ";
  at("onward").hidden = chosen === null;
  tags();
  at("panel-title").textContent = shownInPanel === null ? "Solution" : `Solution ${shownInPanel}`;
}

function step(by) {
  const line = front().length ? front() : points;
  if (!line.length) return;
  const here = line.findIndex((p) => p.number === selected);
  select(line[here < 0 ? 0 : Math.min(line.length - 1, Math.max(0, here + by))].number);
}

async function act(address) {
  if (selected === null) { announce("Select a solution first."); return; }
  touched = true;
  if (await send(`${base}${address}/${selected}`, {})) fetchPoints();
}
const pinOrNot = () => act(pins.includes(selected) ? "/unpin" : "/pin");

function buttons(status) {
  const going = status.state === "running" || status.state === "reading", held = document.activeElement;
  searching = going;
  at("start").disabled = going;
  at("start").textContent = status.outdated || status.state === "finished" ? "Start again" : status.state === "paused" || status.state === "ended" ? "Continue" : "Start";
  at("start").closest("form").hidden = going || (status.state === "finished" && !status.outdated);
  at("outdated").hidden = !status.outdated;
  at("pause").disabled = status.state !== "running";
  at("pause").closest("form").hidden = !going;
  if (held === at("start") && going) at("pause").focus(); // the button that had the focus is gone
  if (held === at("pause") && !going) (at("start").closest("form").hidden ? at("keep") : at("start")).focus();
  at("keep").disabled = !front().length;
  at("extend").closest("form").hidden = status.state !== "finished" || status.outdated;
  const used = at("used");
  used.hidden = !going;
  if (status.used === null || status.used === undefined) used.removeAttribute("value"); else used.value = status.used;
}

document.addEventListener("keydown", (event) => {
  if (!forPage(event)) return;
  const arrows = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  const vertical = event.key === "ArrowDown" || event.key === "ArrowUp";
  if (event.key in arrows && (!vertical || document.activeElement === walk)) { event.preventDefault(); step(arrows[event.key]); }
  else if (event.key === "p") pinOrNot();
  else if (event.key === "c") { if (choose.disabled) announce(choose.title || "Select a solution first."); else act("/choose"); }
});
at("focus").addEventListener("click", () => { const { x0, x1, y0, y1 } = picture.box; steer({ what: "focus", "loss-least": x0, "loss-largest": x1, "risk-least": y0, "risk-largest": y1 }); });
at("more-like").addEventListener("click", () => steer({ what: "more", solution: selected }));
at("undo").addEventListener("click", async () => { if (await send(base + "/undo", {})) fetchPoints(); });
at("ghost-hide").addEventListener("click", async () => {
  oldFront = [];
  if (!ghost.length || await send(base + "/ghost/hide", {})) fetchPoints();
});
pin.addEventListener("click", pinOrNot);
choose.addEventListener("click", () => act("/choose"));
at("previous").addEventListener("click", () => step(-1));
at("next").addEventListener("click", () => step(1));
for (const slider of [loss, risk]) {
  slider.addEventListener("input", () => { sliding = true; refresh(); });
  slider.addEventListener("change", async () => { await send(base + "/limits", { loss: loss.value, risk: risk.value }); sliding = false; fetchPoints(); });
}
for (const button of document.querySelectorAll("[data-zoom]")) {
  button.addEventListener("click", () => {
    picture.zoomTo(button.dataset.zoom);
    for (const each of document.querySelectorAll("[data-zoom]")) each.setAttribute("aria-pressed", String(each === button));
  });
}
replay.addEventListener("input", refresh);
let playing = null;
at("play").addEventListener("click", () => {
  if (playing) { clearInterval(playing); playing = null; at("play").textContent = "Replay"; return; }
  if (Number(replay.value) >= Number(replay.max)) replay.value = 0;
  at("play").textContent = "Stop";
  playing = setInterval(() => {
    replay.value = Number(replay.value) + Math.max(1, Math.round(Number(replay.max) / 80));
    refresh();
    if (Number(replay.value) >= Number(replay.max)) { clearInterval(playing); playing = null; at("play").textContent = "Replay"; }
  }, 100);
});
/** Fetch a part of the closer look and show it. */
async function look(address, into) {
  const element = at(into);
  element.setAttribute("aria-busy", "true");
  const response = await bring(address);
  if (!response) { element.removeAttribute("aria-busy"); return; }
  if (response.ok) { place(element, await response.text()); element.scrollIntoView({ block: "nearest" }); }
  else { element.removeAttribute("aria-busy"); element.textContent = await response.text(); }
}
at("closer").addEventListener("click", (event) => {
  const button = event.target.closest("button[data-look], button[data-fetch]");
  if (button) look(button.dataset.fetch ?? `${base}/look/${selected}/${button.dataset.look}`, button.dataset.into);
});
at("closer").addEventListener("submit", (event) => {
  event.preventDefault();
  look(`${event.target.dataset.part}?${new URLSearchParams(new FormData(event.target))}`, event.target.dataset.into);
});
document.addEventListener("status", (event) => buttons(event.detail));
document.addEventListener("changed", fetchPoints);
document.addEventListener("twins", () => picture.draw());
export { nonDominated, picture };
await fetchPoints();
document.body.dataset.ready = "yes";
