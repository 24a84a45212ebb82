// The grid: a change is saved when it is made; a preview shows group sizes; a file streams in with its name in a header.
import { base, bring, inTurn, place, send, show, announce } from "./studio.js";

const grid = document.getElementById("grid"), preview = document.getElementById("preview");
const fields = (row) => ({
  column: row.dataset.column, role: row.querySelector("[name=role]").value,
  kind: row.querySelector("[name=kind]").value, hierarchy: row.querySelector("[name=hierarchy]").value,
});

let saving = Promise.resolve(); // one save after the other: an older one is never written last
grid?.addEventListener("change", async (event) => {
  const row = event.target.closest("tr[data-column]");
  if (!row) return;
  const saved = await (saving = saving.then(() => send(base + "/data/column", fields(row))));
  event.target.setAttribute("aria-invalid", String(!saved));
  if (saved) row.className = `role-${row.querySelector("[name=role]").value}`;
  if (saved) row.querySelector("[data-order]").hidden = row.querySelector("[name=kind]").value !== "ordinal";
  if (saved && event.target.name === "hierarchy" && event.target.value && event.isTrusted) look(row);
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

document.getElementById("look")?.addEventListener("toggle", async (event) => {
  const rows = document.getElementById("look-rows");
  const response = event.target.open && !rows.childElementCount ? await bring(base + "/data/rows") : null;
  if (response) place(rows, await response.text());
});

document.body.dataset.ready = "yes";
