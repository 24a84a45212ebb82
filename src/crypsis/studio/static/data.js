// The grid: a change is saved when it is made; a preview shows group sizes; a file streams in with its name in a header.
import { bring, place, send, show, tell } from "./studio.js";

const grid = document.getElementById("grid"), preview = document.getElementById("preview");
const fields = (row) => ({
  column: row.dataset.column, role: row.querySelector("[name=role]").value,
  kind: row.querySelector("[name=kind]").value, hierarchy: row.querySelector("[name=hierarchy]").value,
});

grid?.addEventListener("change", async (event) => {
  const row = event.target.closest("tr[data-column]");
  if (!row) return;
  const saved = await send("/data/column", fields(row));
  event.target.setAttribute("aria-invalid", String(!saved));
  if (saved) row.className = `role-${row.querySelector("[name=role]").value}`;
  if (saved && event.target.name === "hierarchy" && event.target.value) look(row);
});
grid?.addEventListener("click", (event) => { if (event.target.closest("[data-preview]")) look(event.target.closest("tr")); });

async function look(row) {
  const chosen = fields(row);
  if (!chosen.hierarchy) chosen.hierarchy = row.querySelector("[name=hierarchy]").placeholder.replace(/^none$/, "");
  const answer = await send("/data/preview", chosen);
  if (answer) place(preview, answer.html);
}

document.getElementById("look")?.addEventListener("toggle", async (event) => {
  const rows = document.getElementById("look-rows");
  const response = event.target.open && !rows.childElementCount ? await bring("/data/rows") : null;
  if (response) place(rows, await response.text());
});

const upload = document.getElementById("upload"), progress = document.getElementById("upload-progress");
upload.addEventListener("submit", (event) => {
  event.preventDefault();
  const file = document.getElementById("file").files[0], problems = document.getElementById("bring-problems");
  if (!file) { show(problems, ["No file was chosen; choose one first."]); return; }
  const request = new XMLHttpRequest();
  progress.hidden = false;
  request.upload.addEventListener("progress", (step) => { progress.value = step.total ? step.loaded / step.total : 0; });
  request.addEventListener("loadend", () => {
    progress.hidden = true;
    let answer = {};
    try { answer = JSON.parse(request.responseText); } catch { answer = { problems: [request.responseText || "The studio does not answer."] }; }
    show(problems, answer.problems ?? []);
    if (request.status === 200) { tell(answer.told); location.assign(answer.go); }
  });
  request.open("POST", "/data/upload");
  request.setRequestHeader("X-File-Name", encodeURIComponent(file.name));
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.send(file);
});
document.body.dataset.ready = "yes";
