// Release: preview and release send the same form.
import { send } from "./studio.js";

const form = document.getElementById("publish");
for (const button of document.querySelectorAll("[data-post]")) {
  button.addEventListener("click", async () => {
    for (const each of form.querySelectorAll("button")) each.disabled = true;
    button.setAttribute("aria-busy", "true");
    const answer = await send(button.dataset.post, new FormData(form), document.getElementById("publish-problems"));
    button.removeAttribute("aria-busy");
    for (const each of form.querySelectorAll("button")) each.disabled = false;
    button.focus();
    if (answer?.parts?.previews) document.getElementById("previews").scrollIntoView({ block: "nearest" });
  });
}
document.body.dataset.ready = "yes";
