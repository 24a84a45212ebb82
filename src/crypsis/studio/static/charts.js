// Drawing: the library comes from this machine, expressions are interpreted (no eval), colours follow the page.
let library;
function ready() {
  library ??= import("/vega.js").then(() => window.vegaEmbed);
  return library;
}
const dark = matchMedia("(prefers-color-scheme: dark)"), narrow = matchMedia("(max-width: 40rem)");
const PALETTE = { light: ["#0b6e4f", "#b3541e", "#3d5a98", "#8a5a9e", "#7a6a1b", "#4d4d4d"], dark: ["#5fd3a6", "#f0a06b", "#8fb0f5", "#d0a0e6", "#d8c766", "#c4c4c4"] };

function looks() {
  const css = getComputedStyle(document.documentElement), of = (name) => css.getPropertyValue(name).trim();
  const ink = of("--ink"), soft = of("--soft"), line = of("--line");
  return {
    background: "transparent", font: "system-ui, sans-serif", view: { stroke: null },
    axis: { labelColor: soft, titleColor: ink, domainColor: soft, tickColor: line, gridColor: line, gridOpacity: .6, labelFontSize: 12, titleFontSize: 13, titleFontWeight: "normal" },
    legend: { labelColor: ink, titleColor: soft, orient: narrow.matches ? "bottom" : "top", labelFontSize: 12, titleFontWeight: "normal", columns: narrow.matches ? 1 : 0, symbolFillColor: soft, ...(narrow.matches ? { layout: { bottom: { anchor: "start", direction: "vertical" } } } : {}) },
    text: { color: ink }, rect: { color: of("--accent") }, line: { color: soft }, point: { stroke: ink },
    range: { category: PALETTE[dark.matches ? "dark" : "light"] },
  };
}

const drawn = new Map();
/** Draw the chart of an element, or draw it again; gives back its view. */
export async function draw(element, prepare = (spec) => spec) {
  element.setAttribute("aria-busy", "true");
  const embed = await ready();
  drawn.get(element)?.finalize();
  const spec = prepare(JSON.parse(element.dataset.spec));
  const result = await embed(element, spec, {
    mode: "vega-lite", ast: true, logLevel: 1, actions: false, defaultStyle: false, tooltip: false, renderer: "canvas", config: looks(),
    loader: { load: () => Promise.reject(new Error("no outside data")) },
  });
  drawn.set(element, result);
  for (const canvas of element.querySelectorAll("canvas")) { canvas.setAttribute("aria-hidden", "true"); canvas.removeAttribute("role"); }
  element.removeAttribute("aria-busy");
  return result.view;
}

/** Draw every chart in a part of the page, now and when the colours of the system change. */
export function drawAll(root) {
  for (const element of root.querySelectorAll(".chart[data-spec]")) if (element.offsetParent) draw(element);
}
export function onLooks(again) { for (const query of [dark, narrow]) query.addEventListener("change", again); }
