// Compare: draw what arrives, again when colours change, and tables instead when asked for.
import { drawAll, onLooks } from "./charts.js";

document.addEventListener("placed", (event) => drawAll(event.target));
document.addEventListener("twins", (event) => { if (!event.detail) drawAll(document); });
onLooks(() => drawAll(document));
document.body.dataset.ready = "yes";
