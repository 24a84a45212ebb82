// The goal: saved by its buttons; the check runs on the server.
import { base, bring, inTurn, place, send } from "./studio.js";

document.getElementById("check")?.addEventListener("click", async (event) => {
  const out = document.getElementById("estimate");
  event.target.setAttribute("aria-busy", "true");
  out.innerHTML = '<p class="soft">Checking …</p>';
  out.setAttribute("aria-busy", "true");
  const answer = await send(base + "/goal/check", {}, out);
  if (answer) place(out, answer.html);
  out.removeAttribute("aria-busy");
  event.target.removeAttribute("aria-busy");
});
// A question is answered when its field is left; one answer after the other.
const asked = document.getElementById("goal-questions");
let answering = Promise.resolve();
asked?.addEventListener("change", (event) => {
  const form = event.target.closest("form");
  if (!form || event.target.name === "analysis") return;
  const fields = new FormData(form), near = form.closest(".card").querySelector(".problems");
  answering = answering.then(() => send(base + "/goal/answer", fields, near));
});
// A change is saved when it is made; the form is drawn again only where something else depends on it.
const form = document.getElementById("goal");
// One save after the other: of two under way at once, the older one could be the last to be written.
let manner = "note";
const save = inTurn(async () => {
  const fields = new FormData(form);
  fields.append("do", manner);
  manner = "note";
  await send(base + "/goal", fields, document.getElementById("goal-noted")); // apart: it must not clear what a button was refused for
});
form?.addEventListener("change", (event) => {
  if (event.target.name?.startsWith("new.")) return;
  if (event.target.name === "rulebook" || event.target.name === "search") manner = "save";
  save();
});
// Which searches cannot treat the table is known once the table is; a large one takes its time.
const obstacles = inTurn(async () => {
  const response = await bring(base + "/goal/obstacles"), found = response?.ok ? await response.json() : {};
  for (const hint of document.querySelectorAll("[data-obstacle]")) hint.textContent = found[hint.dataset.obstacle] ?? "";
});
// Rules that the file keeps without exception are offered where a rule is written.
const propose = inTurn(async () => {
  const response = await bring(base + "/goal/proposed"), rules = response?.ok ? await response.json() : [];
  const list = document.getElementById("proposed-rules"), hint = document.getElementById("proposed-hint");
  if (!list) return;
  list.replaceChildren(...rules.map((rule) => { const option = document.createElement("option"); option.value = rule; return option; }));
  hint.replaceChildren(...(rules.length ? ["The file keeps these without exception: "] : []), ...rules.map((rule) => {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "quiet", textContent: rule });
    button.addEventListener("click", () => { const field = document.getElementById("new-rule"); field.value = rule; field.focus(); });
    return button;
  }));
});
// Both look at the whole table: nothing is asked before somebody opens what shows them.
const advanced = document.getElementById("advanced");
const know = () => { if (advanced?.open) { obstacles(); propose(); } };
advanced?.addEventListener("toggle", know);
document.addEventListener("placed", (event) => { if (event.target.id === "goal-form") know(); });
document.body.dataset.ready = "yes";
