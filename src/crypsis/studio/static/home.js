// Home: cards that follow what searches and releases do, and uploads.
import { announce, bring, inTurn, place, show } from "./studio.js";

const cards = document.getElementById("cards");
const fresh = inTurn(async () => {
  const response = await bring("/files");
  if (response?.ok) place(cards, await response.text());
});
let seen = null;
document.addEventListener("status", (event) => {
  const now = JSON.stringify(event.detail.cards);
  if (seen !== null && seen !== now) fresh();
  seen = now;
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
    if (request.status === 200) { announce(answer.message); location.assign(answer.go); }
  });
  request.open("POST", "/upload");
  request.setRequestHeader("X-File-Name", encodeURIComponent(file.name));
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.send(file);
});
document.body.dataset.ready = "yes";
