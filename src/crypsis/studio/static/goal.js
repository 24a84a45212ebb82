// The goal: saved by its buttons; the check runs on the server.
import { place, send } from "./studio.js";

document.getElementById("check")?.addEventListener("click", async (event) => {
  const out = document.getElementById("estimate");
  event.target.setAttribute("aria-busy", "true");
  out.innerHTML = '<p class="soft">Checking …</p>';
  out.setAttribute("aria-busy", "true");
  const answer = await send("/goal/check", {}, out);
  if (answer) place(out, answer.html);
  out.removeAttribute("aria-busy");
  event.target.removeAttribute("aria-busy");
});
document.body.dataset.ready = "yes";
