// Release: preview and release send the same form; Release opens once nothing that the file reveals stops it.
import { send } from "./studio.js";

const form = document.getElementById("publish"), reveals = document.getElementById("reveals");
const words = document.getElementById("publish-words"), release = document.getElementById("export");

function follow() {
  const summary = document.getElementById("reveals-summary"), blocking = Number(summary?.dataset.blocking);
  release.disabled = !summary || blocking > 0;
  if (!summary) return;
  words.textContent = blocking ? "Release opens once every finding above that stops it is decided." : "A few seconds: the file is written, read back and judged again.";
}

if (form) {
  new MutationObserver(follow).observe(reveals, { childList: true, subtree: true });
  follow();
}
for (const button of document.querySelectorAll("[data-post]")) {
  button.addEventListener("click", async () => {
    for (const each of form.querySelectorAll("button")) each.disabled = true;
    button.setAttribute("aria-busy", "true");
    words.textContent = "The file is being written, read back and judged …";
    const answer = await send(button.dataset.post, new FormData(form), document.getElementById("publish-problems"));
    button.removeAttribute("aria-busy");
    for (const each of form.querySelectorAll("button")) each.disabled = false;
    follow();
    button.focus();
    if (answer?.parts?.previews) document.getElementById("previews").scrollIntoView({ block: "nearest" });
  });
}
document.body.dataset.ready = "yes";
