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

// A file is brought as soon as it is chosen, or dropped on the card.
const chosen = document.getElementById("file"), progress = document.getElementById("upload-progress");
const card = chosen.closest(".card"), problems = document.getElementById("bring-problems");
chosen.addEventListener("change", () => { if (chosen.files[0]) bringFile(chosen.files[0]); });
card.addEventListener("dragover", (event) => event.preventDefault());
card.addEventListener("drop", (event) => {
  event.preventDefault();
  if (event.dataTransfer.files[0]) bringFile(event.dataTransfer.files[0]);
});
function bringFile(file) {
  if (!progress.hidden) return; // one is on its way
  const request = new XMLHttpRequest();
  progress.hidden = false;
  request.upload.addEventListener("progress", (step) => { progress.value = step.total ? step.loaded / step.total : 0; });
  request.upload.addEventListener("load", () => announce(`${file.name} is here and being read …`, 60000));
  request.addEventListener("loadend", () => {
    progress.hidden = true;
    chosen.value = ""; // the same one can be chosen again once it is mended
    let answer = {};
    try { answer = JSON.parse(request.responseText); } catch { answer = { problems: [request.responseText || "The studio does not answer."] }; }
    show(problems, answer.problems ?? []);
    announce(request.status === 200 ? answer.message : "The file was not opened.");
    if (request.status === 200) location.assign(answer.go);
  });
  request.open("POST", "/upload");
  request.setRequestHeader("X-File-Name", encodeURIComponent(file.name));
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.send(file);
}
document.body.dataset.ready = "yes";
