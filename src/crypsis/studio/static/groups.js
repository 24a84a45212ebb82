// The group editor: values move between groups; only Save writes a hierarchy file and names it in the plan.
import { announce, base, place, send } from "./studio.js";

const preview = document.getElementById("preview"), grid = document.getElementById("grid");
const editor = () => document.getElementById("groups");
const chips = (element) => element.querySelector(".chips");
const chosen = () => [...editor().querySelectorAll(".chips input:checked")].map((box) => box.closest("label"));

grid?.addEventListener("click", async (event) => {
  const row = event.target.closest("[data-groups]")?.closest("tr");
  if (!row) return;
  const answer = await send(`${base}/data/groups/show`, { column: row.dataset.column }, document.getElementById("grid-problems"));
  if (!answer) return;
  place(preview, answer.html);
  showLarger();
  preview.scrollIntoView({ block: "nearest" });
  editor().querySelector("[data-group=make]").focus();
});

// A larger group is named on each group, and on each value by itself, that is in it.
const parts = () => [...editor().querySelectorAll("#groups-named > .group, [data-alone] .chips label")];
const nameOf = (part) => part.querySelector(".group-name")?.value ?? (part.dataset.name || part.querySelector("input").value);
const boxesOf = (part) => [...part.querySelectorAll("input[type=checkbox]")];
function enlarge(labels) {
  const name = document.getElementById("larger-name").value.trim();
  for (const part of new Set(labels.map((label) => label.closest("#groups-named > .group") ?? label))) {
    if (name) part.dataset.larger = name; else part.removeAttribute("data-larger");
  }
}
function showLarger() {
  const found = new Map();
  for (const part of parts()) if (part.dataset.larger) found.set(part.dataset.larger, [...found.get(part.dataset.larger) ?? [], part]);
  document.getElementById("groups-larger").replaceChildren(...[...found].map(([name, inside]) => {
    const item = document.createElement("li"), boxes = inside.flatMap(boxesOf);
    const members = inside.map((part) => part.matches(".group") ? `${nameOf(part)} (${boxesOf(part).map((box) => box.value).join(", ")})` : nameOf(part));
    item.append(Object.assign(document.createElement("b"), { textContent: name }), `: ${members.join("; ")} · ${boxes.reduce((sum, box) => sum + Number(box.dataset.count), 0)} records `);
    const split = Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: "Split it up" });
    split.setAttribute("aria-label", `Split up the larger group ${name}`);
    split.addEventListener("click", () => { for (const part of inside) part.removeAttribute("data-larger"); showLarger(); document.getElementById("larger-name").focus(); });
    item.append(split);
    return item;
  }));
}

function total() {
  for (const group of editor().querySelectorAll("#groups-named > .group")) {
    const boxes = [...group.querySelectorAll(".chips input")];
    if (!boxes.length) { group.remove(); continue; }
    group.querySelector("[data-total]").textContent = `${boxes.reduce((sum, box) => sum + Number(box.dataset.count), 0)} records`;
  }
  for (const box of editor().querySelectorAll(".chips input:checked")) box.checked = false;
  count();
  showLarger();
}
function count() {
  const labels = chosen();
  document.getElementById("groups-chosen").textContent = labels.length ? `${labels.length} chosen` : "";
}
function make(labels) {
  const group = document.createElement("fieldset");
  group.className = "group";
  group.innerHTML = '<legend class="hidden">New group</legend><div class="inline"><label>name <input class="group-name" autocomplete="off"></label><span class="soft" data-total></span><button type="button" class="quiet" data-group="add">Add the chosen values</button><button type="button" class="quiet" data-group="split">Split it up</button></div><div class="chips"></div>';
  for (const label of labels) label.removeAttribute("data-larger"); // the new group has its own
  chips(group).append(...labels);
  document.getElementById("groups-named").append(group);
  group.querySelector(".group-name").value = labels.map((label) => label.querySelector("input").value).join(" or ").slice(0, 40);
  group.querySelector(".group-name").focus();
  group.querySelector(".group-name").select();
}
const alone = () => chips(editor().querySelector("[data-alone]"));

async function save() {
  const fields = new URLSearchParams({ column: editor().dataset.column });
  for (const group of editor().querySelectorAll(".group")) for (const box of group.querySelectorAll(".chips input")) {
    fields.append("value", box.value);
    const own = group.matches("[data-alone]") ? box.closest("label") : group;
    fields.append("larger", own.dataset.larger ?? "");
    fields.append("group", group.querySelector(".group-name")?.value ?? (box.closest("label").dataset.name || box.value));
  }
  if (await send(`${base}/data/groups`, fields, document.getElementById("groups-problems"))) announce("The groups are saved.");
}

preview?.addEventListener("input", (event) => { if (event.target.matches("#groups-named .group-name")) showLarger(); });
preview?.addEventListener("change", async (event) => {
  if (event.target.id === "groups-file" && event.target.files[0]) {
    const text = await event.target.files[0].text(), column = editor().dataset.column;
    const answer = await send(`${base}/data/groups/import`, { column, text }, document.getElementById("groups-problems"));
    if (answer) grid.querySelector(`tr[data-column="${CSS.escape(column)}"] [data-groups]`)?.click();
    else event.target.value = "";
  } else if (event.target.closest("#groups .chips")) count();
});
preview?.addEventListener("click", (event) => {
  const button = event.target.closest("[data-group]"), labels = button && editor() ? chosen() : [];
  switch (button?.dataset.group) {
    case "make": if (labels.length > 1) make(labels); else announce("Choose two values or more."); total(); break;
    case "larger": if (labels.length) enlarge(labels); else announce("Choose a value of each group first."); total(); break;
    case "out": for (const label of labels) label.removeAttribute("data-name"); alone().append(...labels); total(); break;
    case "add": for (const label of labels) label.removeAttribute("data-larger"); chips(button.closest(".group")).append(...labels); total(); break;
    case "split": alone().append(...button.closest(".group").querySelectorAll(".chips label")); total(); editor().querySelector("[data-group=make]").focus(); break;
    case "save": save(); break;
    case "close": preview.replaceChildren(); break;
    default:
  }
});
