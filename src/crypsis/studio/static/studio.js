// What every page does: sending forms, showing messages, copying, keys, and events from the server.
/** The address of the file this page is about. */
export const base = document.body.dataset.base;
const message = document.getElementById("message");
let silence;

/** Show a message, also to screen readers, for a while. */
export function announce(sentence, stay = 8000) {
  if (!sentence) return;
  clearTimeout(silence);
  message.textContent = sentence;
  silence = setTimeout(() => { message.textContent = ""; }, stay);
}

/** Replace content and keep the focus inside it. */
export function place(element, html) {
  const held = element.contains(document.activeElement) ? document.activeElement : null;
  const open = [...element.querySelectorAll("details[open] > summary")].map((s) => s.textContent);
  const key = held && (held.id ? `#${CSS.escape(held.id)}` : held.name ? `[name="${CSS.escape(held.name)}"]${held.value ? `[value="${CSS.escape(held.value)}"]` : ""}` : "");
  element.innerHTML = html;
  element.removeAttribute("aria-busy");
  for (const summary of element.querySelectorAll("details > summary")) if (open.includes(summary.textContent)) summary.parentElement.open = true;
  if (held) (key && element.querySelector(key) || firstFocusable(element) || document.getElementById("content")).focus({ preventScroll: true });
  element.dispatchEvent(new CustomEvent("placed", { bubbles: true }));
}

function firstFocusable(element) {
  return element.querySelector("button, input, select, a[href], summary");
}

/** Send fields to an address and show the message; returns the answer, or null if it was refused. */
export async function send(address, fields, problems, quietly = false) {
  let answer;
  try {
    const response = await fetch(address, { method: "POST", body: new URLSearchParams(fields) });
    const text = await response.text();
    try { answer = JSON.parse(text); } catch { answer = { message: text, problems: response.ok ? [] : [text], html: text }; }
    answer.ok = response.ok;
  } catch {
    answer = { ok: false, problems: ["The studio does not answer; is it still running in the terminal?"] };
  }
  show(problems, answer.problems ?? []);
  if (answer.stamp) plan = answer.stamp;
  if (!answer.ok) { if (!quietly && !problems) announce(answer.problems?.[0] ?? "That did not work."); return null; }
  if (!answer.html) announce(answer.message);
  for (const [id, html] of Object.entries(answer.parts ?? {})) place(document.getElementById(id), html);
  if (answer.go) location.assign(answer.go);
  return answer;
}

/** Show problems next to the form. */
export function show(element, problems) {
  if (!element) return;
  element.replaceChildren();
  if (!problems.length) return;
  const list = document.createElement("ul");
  for (const problem of problems) list.append(Object.assign(document.createElement("li"), { textContent: problem }));
  element.setAttribute("role", "alert");
  element.append(list);
  element.scrollIntoView({ block: "nearest" });
}

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-send]");
  if (!form) return;
  event.preventDefault();
  const fields = new FormData(form, event.submitter);
  const near = form.querySelector(".problems") ?? form.closest(".card")?.querySelector(".problems");
  event.submitter?.setAttribute("aria-busy", "true");
  const answer = await send(event.submitter?.getAttribute("formaction") ?? form.getAttribute("action"), fields, near);
  event.submitter?.removeAttribute("aria-busy");
  if (answer && form.dataset.then) location.assign(form.dataset.then);
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
  announce("Copied.");
});

/** Fetch a piece of the studio; null if the studio does not answer. */
export async function bring(address) {
  try { return await fetch(address); } catch { return null; }
}

/** Fill places that need work on the server. */
export async function load(element) {
  const response = await bring(element.dataset.load);
  if (!response) return;
  const text = await response.text();
  if (response.ok) place(element, text);
  else { element.removeAttribute("aria-busy"); show(element, [text]); }
}
for (const element of document.querySelectorAll("[data-load]")) load(element);
document.addEventListener("placed", (event) => { for (const element of event.target.querySelectorAll("[data-load]")) load(element); });

/** Charts as tables and back, for the whole page. */
let tables = sessionStorage.getItem("tables") === "yes";
export function twins() {
  for (const view of document.querySelectorAll("[data-view]")) view.hidden = (view.dataset.view === "table") !== tables;
  for (const button of document.querySelectorAll("[data-tables]")) button.setAttribute("aria-pressed", String(tables));
  document.dispatchEvent(new CustomEvent("twins", { detail: tables }));
}
function toggleTables() {
  tables = !tables;
  sessionStorage.setItem("tables", tables ? "yes" : "no");
  twins();
  announce(tables ? "Charts are shown as tables." : "Charts are shown as pictures.");
}
document.addEventListener("click", (event) => { if (event.target.closest("[data-tables]")) toggleTables(); });
document.addEventListener("placed", twins);
twins();

const help = document.getElementById("help"), keysOn = document.getElementById("keys-on");
keysOn.checked = localStorage.getItem("keys") !== "off";
keysOn.addEventListener("change", () => localStorage.setItem("keys", keysOn.checked ? "on" : "off"));
document.getElementById("help-open").addEventListener("click", () => help.showModal());

/** Whether a key press is meant for the page and not for a field. */
export function forPage(event) {
  if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || help.open || !keysOn.checked) return false;
  const moves = event.key.startsWith("Arrow") && event.target.closest("input, summary");
  return !moves && !event.target.closest("input:not([type=checkbox], [type=radio], [type=range]), select, textarea, [contenteditable]");
}
document.addEventListener("keydown", (event) => {
  if (!forPage(event)) return;
  if (event.key === "?") help.showModal();
  else if (event.key === "t" && document.querySelector("[data-tables]")) toggleTables();
});

// The line to the server: how the search stands, and whether anything on the page changed, here or in another tab.
// A version is session-read-plan-choices-…: see Studio.revision.
let version = document.body.dataset.version, plan = version.split("-")[2];
const [opened, read] = version.split("-");

/** Work that is asked for again while it is being done is done once more after it: the last answer is never an older one. */
export function inTurn(work) {
  let going = null, wanted = false;
  const all = async () => { try { while (wanted) { wanted = false; await work(); } } finally { going = null; } };
  return () => { wanted = true; going ??= all(); return going; };
}

const choices = () => ["head-pins", "head-chosen"].map((id) => document.getElementById(id)?.textContent).join();
const shown = choices(), stale = document.getElementById("stale");
const freshHead = inTurn(async () => {
  const response = await bring(base + "/head");
  if (response?.ok) document.getElementById("head").innerHTML = await response.text();
  if (stale) stale.hidden = choices() === shown;
});

/** Parts that show the plan, fetched again when it was changed elsewhere; not while something is being typed in them. */
const typing = (element) => element.contains(document.activeElement) && document.activeElement.matches("input[type=text], input[type=number], input:not([type])") && document.activeElement.value !== document.activeElement.defaultValue;
const freshParts = inTurn(async () => {
  for (const element of document.querySelectorAll("[data-follow]")) {
    if (typing(element)) { document.activeElement.addEventListener("blur", freshParts, { once: true }); continue; }
    const response = await bring(element.dataset.follow);
    if (response?.ok && !typing(element)) place(element, await response.text());
  }
});

function heard(event) {
  const now = JSON.parse(event.data);
  const words = document.getElementById("search-words");
  if (words && words.textContent !== now.words) words.textContent = now.words;
  if (words && now.level) words.className = `level-${now.level}`;
  document.dispatchEvent(new CustomEvent("status", { detail: now }));
  if (now.version === version) return;
  version = now.version;
  const [session, done, written] = version.split("-");
  if (session !== opened || done !== read) { location.reload(); return; }
  freshHead();
  if (written !== plan) { plan = written; freshParts(); }
  document.dispatchEvent(new CustomEvent("changed", { detail: now }));
}

const gone = document.getElementById("gone");
let line = null, again = null;
function hangUp() { clearTimeout(again); line?.close(); line = null; }
function listen() {
  if (document.visibilityState === "hidden") { hangUp(); return; } // a browser keeps six lines to one place
  if (line) return;
  line = new EventSource(base + "/events");
  line.addEventListener("message", heard);
  line.addEventListener("open", () => { gone.hidden = true; });
  line.addEventListener("error", () => {
    gone.hidden = false;
    hangUp();
    again = setTimeout(listen, 1000);
  });
}
document.addEventListener("visibilitychange", listen);
window.addEventListener("pagehide", hangUp);
window.addEventListener("pageshow", listen);
listen();
