// Questions and the grid: a change is saved when it is made, and what depends on it is shown anew; a preview shows group sizes.
import { announce, base, bring, forPage, inTurn, place, send } from "./studio.js";
import { rove } from "./roving.js";

const grid = document.getElementById("grid"), preview = document.getElementById("preview");
const fields = (row) => ({
  column: row.dataset.column, shown: row.dataset.shown, role: row.querySelector("[name=role]").value,
  kind: row.querySelector("[name=kind]").value, hierarchy: row.querySelector("[name=hierarchy]").value,
  label: row.querySelector("[name=label]").value,
});

// Every row shows what is saved: the answer brings the rows anew, and so does a refusal.
const freshRows = inTurn(async () => {
  const response = await bring(base + "/data/grid");
  if (response?.ok) place(document.getElementById("rows"), await response.text());
});
let saving = Promise.resolve(); // one save after the other: an older one is never written last
async function saveRow(column, element, trusted) {
  const row = () => grid.querySelector(`tr[data-column="${CSS.escape(column)}"]`), { name, value } = element;
  // Only the field that was changed, over the row as it is when its turn comes: an own save before it makes nothing stale.
  const save = () => send(base + "/data/column", { ...fields(row()), [name]: value }, document.getElementById("grid-problems"));
  const saved = await (saving = saving.then(save));
  if (!saved) await freshRows();
  else if (name === "hierarchy" && value && trusted) look(row());
}
if (grid) rove(grid);
// In a select that is edited, arrows and letters move through its options: nothing is saved before Enter or the next field.
let typed = false, waiting = null;
grid?.addEventListener("keydown", (event) => {
  typed = event.target.matches("select");
  if (!typed) return;
  if (event.key === "Enter" && waiting) { event.preventDefault(); commit(); }
  if (event.key === "Escape") waiting = null; // the field has its value back: rows brought anew now would take the next edit away
});
grid?.addEventListener("pointerdown", () => { typed = false; });
function commit() {
  const element = waiting;
  waiting = null;
  if (element?.isConnected) saveRow(element.closest("tr").dataset.column, element, false);
}
grid?.addEventListener("change", (event) => {
  const row = event.target.closest("tr[data-column]");
  if (!row) return;
  if (typed && event.target.matches("select")) { waiting = event.target; announce("Enter saves, Escape restores."); return; }
  saveRow(row.dataset.column, event.target, event.isTrusted);
});
// Rows that are brought anew take the focus away too: what stood in a row that is gone is not saved.
grid?.addEventListener("focusout", () => { if (waiting) setTimeout(commit); });

// Questions: one key for every answer; a question that is skipped comes again.
const questions = document.getElementById("questions");
async function ask(skip, each) {
  const response = await bring(`${base}/data/questions?skip=${skip}&each=${each}`);
  if (response?.ok) place(questions, await response.text());
}
questions?.addEventListener("click", (event) => {
  const button = event.target.closest("[data-ask]"), shown = document.getElementById("question")?.dataset;
  if (button?.dataset.ask === "skip") ask(Number(shown.skip) + 1, shown.each);
  if (button?.dataset.ask === "each") ask(0, "yes");
});
document.addEventListener("keydown", (event) => {
  if (!forPage(event) || event.target.closest("button, #grid, #preview")) return;
  questions?.querySelector(`[data-key="${CSS.escape(event.key)}"]`)?.click();
});

grid?.addEventListener("click", (event) => {
  if (event.target.closest("[data-preview]")) look(event.target.closest("tr"));
  if (event.target.closest("[data-order]")) arrange(event.target.closest("tr").dataset.column);
});

async function arrange(column) {
  const answer = await send(base + "/data/order", { column });
  if (!answer) return;
  place(preview, answer.html);
  preview.querySelector("button")?.focus();
}

preview?.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-move]"), item = button?.closest("li");
  const other = Number(button?.dataset.move) < 0 ? item?.previousElementSibling : item?.nextElementSibling;
  if (!other) return;
  if (Number(button.dataset.move) < 0) other.before(item); else other.after(item);
  button.focus(); // it moved with its line
  const list = document.getElementById("order"), fields = new URLSearchParams({ column: list.dataset.column });
  for (const each of list.querySelectorAll("li")) fields.append("value", each.dataset.value);
  if (!await send(base + "/data/order", fields)) arrange(list.dataset.column);
});

preview?.addEventListener("click", (event) => {
  const open = event.target.closest("[data-close]")?.closest("[data-column]");
  if (!open) return;
  const row = grid.querySelector(`tr[data-column="${CSS.escape(open.dataset.column)}"]`);
  preview.replaceChildren();
  row?.querySelector(open.id === "order" ? "[data-order]" : "[data-preview]")?.focus();
});

async function look(row) {
  const chosen = fields(row);
  if (!chosen.hierarchy) chosen.hierarchy = row.querySelector("[name=hierarchy]").placeholder.replace(/^none$/, "");
  const answer = await send(base + "/data/preview", chosen);
  if (answer) { place(preview, answer.html); preview.scrollIntoView({ block: "nearest" }); }
}

// The builder: what is typed is tried out at once; only the button writes it into the plan.
const part = (id) => document.getElementById(`builder-${id}`);
const spec = () => part("how").value === "file" ? part("with").value : `${part("how").value}:${part("with").value}`;
const rowOf = () => grid.querySelector(`tr[data-column="${CSS.escape(document.getElementById("builder").dataset.column)}"]`);
const tryOut = inTurn(async () => {
  await new Promise((resolve) => { setTimeout(resolve, 250); });
  if (!part("how")) return;
  const answer = await send(base + "/data/preview", { ...fields(rowOf()), hierarchy: spec(), trying: "yes" }, part("problems"), true);
  part("use").disabled = !answer;
  if (answer) place(document.getElementById("levels"), answer.html);
});
preview?.addEventListener("input", (event) => {
  if (event.target === part("how")) {
    const option = event.target.selectedOptions[0].dataset;
    part("with").value = option.example;
    part("argument").textContent = option.argument;
  }
  if (event.target === part("how") || event.target === part("with")) tryOut();
});
preview?.addEventListener("click", (event) => {
  if (event.target !== part("use")) return;
  const field = rowOf().querySelector("[name=hierarchy]");
  field.value = spec();
  field.dispatchEvent(new Event("change", { bubbles: true }));
});

// Raw values are fetched when they are asked for, each time anew: the roles may have changed.
for (const details of document.querySelectorAll("details[data-open]")) details.addEventListener("toggle", async () => {
  const into = details.querySelector("div"), response = details.open ? await bring(details.dataset.open) : null;
  if (response?.ok) place(into, await response.text()); else into.replaceChildren();
});

document.body.dataset.ready = "yes";
