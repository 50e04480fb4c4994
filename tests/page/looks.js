// What a page test asks of everything that can be seen: is it readable, has it a name, does it fit?

const panel = (selector) => [...document.querySelectorAll(`.hk-panel ${selector}`)];
const seen = (el) => el.checkVisibility({visibilityProperty: true});

/** Colours laid over each other on white, as [r, g, b]; drawn on a canvas, since they may be mixes of colours. */
function over(colors) {
  const canvas = Object.assign(document.createElement("canvas"), {width: 1, height: 1});
  const context = canvas.getContext("2d", {willReadFrequently: true});
  for (const color of ["#fff", ...colors]) {
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
  }
  return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
}

/** Relative luminance: https://www.w3.org/TR/WCAG22/#dfn-relative-luminance */
function luminance(rgb) {
  const linear = rgb.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return linear[0] * 0.2126 + linear[1] * 0.7152 + linear[2] * 0.0722;
}

function contrastOf(el) {
  const layers = [];
  for (let up = el; up; up = up.parentElement) layers.unshift(getComputedStyle(up).backgroundColor);
  const [a, b] = [luminance(over(layers)), luminance(over([...layers, getComputedStyle(el).color]))];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

/** Texts with a contrast under 4.5:1, as "text: ratio". */
export function faint() {
  const texts = document.createTreeWalker(document.querySelector(".hk-panel"), NodeFilter.SHOW_TEXT);
  const found = [];
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const el = node.parentElement;
    if (!node.data.trim() || !seen(el) || el.closest(".hk-sr, select")) continue;
    const ratio = contrastOf(el);
    if (ratio < 4.5) found.push(`${node.data.trim().slice(0, 30)}: ${ratio.toFixed(2)}`);
  }
  return found;
}

/** Controls that can be seen and have no name. */
export function nameless() {
  return panel(":is(button, input, select, [role=tab], [role=slider], [role=meter])")
    .filter(
      (el) =>
        seen(el) && !(el.getAttribute("aria-label") || el.textContent.trim() || el.labels?.[0]?.textContent.trim()),
    )
    .map((el) => el.outerHTML.slice(0, 120));
}

/** Elements whose content is wider than they are, though they neither scroll nor say so with an ellipsis. */
export function spilling() {
  const may = ({overflowX, textOverflow, display}) =>
    /auto|scroll/.test(overflowX) || textOverflow === "ellipsis" || display === "inline";
  return [document.querySelector(".hk-panel"), ...panel("*")]
    .filter((el) => seen(el) && el.clientWidth > 1 && el.scrollWidth > el.clientWidth + 1)
    .filter((el) => !may(getComputedStyle(el)) && !el.closest(".hk-tl-scroll, select, svg"))
    .map((el) => `${el.className}: ${el.scrollWidth} > ${el.clientWidth}`);
}
