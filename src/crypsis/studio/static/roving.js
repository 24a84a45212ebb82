// One tab stop for a table of fields: arrows move, Enter edits, Enter again or another field leaves, Escape restores.
const slot = (field) => field.id.replace(/-\d+$/, "");

/** Let a table with fields named slot-number be one tab stop; rows may be replaced at any time. */
export function rove(table) {
  let here = "", editing = null, before = "", pointer = false;
  const fields = (row) => [...row.querySelectorAll("select, input, button")].filter((field) => !field.hidden);
  const rows = () => [...table.tBodies[0].rows];

  function settle(field) {
    if (field) here = field.id;
    const all = [...table.tBodies[0].querySelectorAll("select, input, button")];
    const stop = all.find((each) => each.id === here && !each.hidden) ?? all.find((each) => !each.hidden);
    for (const each of all) each.tabIndex = each === stop ? 0 : -1;
  }
  function edit(field) {
    [editing, before] = [field, field.value];
    field.dataset.editing = "";
  }
  function leave() {
    editing?.removeAttribute("data-editing");
    editing = null;
  }
  /** The field of a row below or above: the same one, or the nearest before it where the row has none such. */
  function beside(row, name) {
    const there = fields(row), names = there.map(slot), order = ["role", "kind", "order", "hierarchy", "preview", "groups", "label"];
    for (let place = order.indexOf(name); place >= 0; place -= 1) if (names.includes(order[place])) return there[names.indexOf(order[place])];
    return there[0];
  }
  function target(event) {
    const field = event.target, row = field.closest("tr"), all = rows(), at = all.indexOf(row), own = fields(row), place = own.indexOf(field);
    switch (event.key) {
      case "ArrowRight": return own[place + 1] ?? field;
      case "ArrowLeft": return own[place - 1] ?? field;
      case "ArrowDown": return beside(all[Math.min(at + 1, all.length - 1)], slot(field));
      case "ArrowUp": return beside(all[Math.max(at - 1, 0)], slot(field));
      case "PageDown": return beside(all[Math.min(at + 10, all.length - 1)], slot(field));
      case "PageUp": return beside(all[Math.max(at - 10, 0)], slot(field));
      case "Home": return event.ctrlKey ? fields(all[0])[0] : own[0];
      case "End": return event.ctrlKey ? fields(all.at(-1)).at(-1) : own.at(-1);
      default: return null;
    }
  }
  table.addEventListener("keydown", (event) => {
    const field = event.target;
    if (!field.matches("tbody select, tbody input, tbody button")) return;
    if (editing === field) {
      if (event.key === "Escape") { field.value = before; leave(); event.preventDefault(); }
      if (event.key === "Enter") leave();
      return;
    }
    const plain = !event.metaKey && !event.altKey, there = plain ? target(event) : null;
    if (there) {
      event.preventDefault();
      settle(there);
      there.focus();
    } else if (!field.matches("button") && (event.key === "Enter" || event.key === "F2")) {
      event.preventDefault();
      edit(field);
      if (field.matches("input")) field.select();
    } else if (!field.matches("button") && !event.ctrlKey && (event.key.length === 1 || event.altKey)) {
      edit(field); // a letter begins to edit, as in a spreadsheet
      if (field.matches("input")) field.select();
    }
  });
  table.addEventListener("pointerdown", () => { pointer = true; });
  table.addEventListener("focusin", (event) => {
    if (!event.target.matches("tbody select, tbody input, tbody button")) return;
    settle(event.target);
    if (pointer && !event.target.matches("button")) edit(event.target);
    pointer = false;
  });
  table.addEventListener("focusout", leave);
  table.addEventListener("placed", () => { leave(); settle(); });
  settle();
}
