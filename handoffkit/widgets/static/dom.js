// Elements without HTML: every text becomes a text node, so what a caller or a model said can never become markup.

const SVG = "http://www.w3.org/2000/svg";

/** Icons on a 16 px grid: a list of [element, attributes]. Drawn with a 1.5 px stroke in the current colour. */
const ICONS = {
  mic: [
    ["rect", {x: 6, y: 1.75, width: 4, height: 7.5, rx: 2}],
    ["path", {d: "M3.5 7.5a4.5 4.5 0 0 0 9 0M8 12v2.25"}],
  ],
  micoff: [
    [
      "path",
      {
        d:
          "M10 6.5V3.75a2 2 0 0 0-4 0V6M6 8.2a2 2 0 0 0 2.6 1M3.5 7.5a4.5 4.5 0 0 0 7 3.7" +
          "M12.5 7.5c0 .6-.1 1.1-.3 1.6M8 12v2.25M2.5 2.5l11 11",
      },
    ],
  ],
  call: [
    [
      "path",
      {
        d:
          "M3.3 2.4 5.4 2l1.3 3.1-1.6 1.2a8.5 8.5 0 0 0 4.6 4.6l1.2-1.6 3.1 1.3-.4 2.1c-.1.6-.6 1-1.2 1" +
          "C7 13.7 2.3 9 2.3 3.6c0-.6.4-1.1 1-1.2z",
      },
    ],
  ],
  hang: [["path", {d: "M1.7 9.7c3.7-3.3 8.9-3.3 12.6 0l-1.7 2.1-2.7-1.1V8.6a9.5 9.5 0 0 0-3.8 0v2.1l-2.7 1.1z"}]],
  play: [["path", {d: "M5 3.2 12.6 8 5 12.8z", fill: "currentColor"}]],
  pause: [["path", {d: "M5.5 3.5v9M10.5 3.5v9", "stroke-width": 2}]],
  stop: [["rect", {x: 4, y: 4, width: 8, height: 8, rx: 1, fill: "currentColor"}]],
  right: [["path", {d: "m6 4 4 4-4 4"}]],
  down: [["path", {d: "m4 6 4 4 4-4"}]],
  up: [["path", {d: "M8 13V3.5M4 7.5l4-4 4 4"}]],
  copy: [
    ["rect", {x: 5.5, y: 5.5, width: 8, height: 8, rx: 1}],
    ["path", {d: "M10.5 5.5v-3h-8v8h3"}],
  ],
  save: [["path", {d: "M8 2.5v7.5M4.8 7 8 10.2 11.2 7M2.5 13.5h11"}]],
  send: [["path", {d: "M2.5 8h10M9 4.5 12.5 8 9 11.5"}]],
  over: [["path", {d: "M2 8h8M7 5l3 3-3 3M13.5 3.5v9"}]],
  warn: [["path", {d: "M8 2.2 14.3 13.5H1.7zM8 6.5v3.2M8 11.6v.01"}]],
  bad: [
    ["circle", {cx: 8, cy: 8, r: 6.2}],
    ["path", {d: "M8 4.8v3.8M8 11v.01"}],
  ],
  check: [["path", {d: "m3 8.5 3.2 3.2L13 4.8"}]],
  x: [["path", {d: "m4 4 8 8M12 4l-8 8"}]],
  local: [
    ["rect", {x: 2, y: 2.5, width: 12, height: 8, rx: 1}],
    ["path", {d: "M5.5 13.5h5M8 10.5v3"}],
  ],
  cloud: [["path", {d: "M4.6 12.5a3 3 0 0 1-.3-6A4 4 0 0 1 12 7a2.8 2.8 0 0 1-.4 5.5z"}]],
};

/**
 * Build an element.
 * @param {string} tag
 * @param {object} [props] class, text, on {event: function}, data {name: value}, vars {"--name": value}; the rest are
 *   attributes (true is written as "", false and null are left out)
 * @param {...(Node|string|null|false|Array)} children
 * @returns {HTMLElement}
 */
export function h(tag, props = {}, ...children) {
  const el = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) put(el, name, value);
  el.append(...nodes(children));
  return el;
}

function put(el, name, value) {
  if (name === "class") el.className = value;
  else if (name === "text") el.textContent = value;
  else if (name === "on") for (const [type, fn] of Object.entries(value)) el.addEventListener(type, fn);
  else if (name === "data") Object.assign(el.dataset, value);
  else if (name === "vars") for (const [key, v] of Object.entries(value)) el.style.setProperty(key, String(v));
  else setAttr(el, name, value === true ? "" : value === false ? null : value);
}

const nodes = (children) =>
  children.flat(9).filter((child) => child !== null && child !== undefined && child !== false && child !== "");

/**
 * Draw an icon; it says nothing to a screen reader, its button or its neighbour does.
 * @param {keyof ICONS} name
 * @param {boolean} [small] 12 px instead of 16
 * @returns {SVGElement}
 */
export function icon(name, small = false) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", small ? "hk-ic hk-ic--s" : "hk-ic");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  for (const [tag, attributes] of ICONS[name]) {
    const part = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, String(value));
    svg.append(part);
  }
  return svg;
}

/** Names of the icons there are. */
export const iconNames = () => Object.keys(ICONS);

/**
 * Build a button: an icon, a label, or both.
 * @param {{label: string, icon?: string, kind?: string, small?: boolean, title?: string, hideText?: boolean,
 *   onClick?: function}} options kind: class names after "hk-btn--", split by spaces; hideText: where the panel is
 *   narrow the label is for screen readers alone
 */
export function button({label, icon: name, kind = "", small = false, title, hideText = false, onClick}) {
  const kinds = [...kind.split(" ").filter(Boolean), ...(small ? ["small"] : [])].map((word) => ` hk-btn--${word}`);
  const text = h("span", {class: hideText ? "hk-txt" : "hk-label", text: label});
  const props = {
    type: "button",
    class: `hk-btn${kinds.join("")}`,
    title: title ?? null,
    "aria-label": hideText ? label : null,
  };
  return h("button", {...props, on: onClick ? {click: onClick} : {}}, name ? icon(name, small) : null, text);
}

/** Write a text only when it differs, so that nothing is announced or laid out twice. */
export function setText(el, text) {
  if (el.textContent !== text) el.textContent = text;
}

/** Write an attribute only when it differs; null or undefined takes it away. */
export function setAttr(el, name, value) {
  if (value === null || value === undefined) {
    if (el.hasAttribute(name)) el.removeAttribute(name);
  } else if (el.getAttribute(name) !== String(value)) el.setAttribute(name, String(value));
}

/** Replace an element's children. */
export function fill(el, ...children) {
  el.replaceChildren(...nodes(children));
}

let alive = 0;

/** How many listeners, timers and observers of all scopes are alive: after everything is disposed, none. */
export const aliveInScopes = () => alive;

/**
 * What outlives an element (listeners on the document, timers, observers), ended in one place.
 * @returns {{on: function, every: function, later: function, frame: function, observe: function, child: function,
 *   dispose: function}} each of the first five returns a function that ends that one thing
 */
export function createScope() {
  const ends = new Set();
  const keep = (end) => {
    const once = () => ends.delete(once) && (alive--, end());
    ends.add(once);
    alive++;
    return once;
  };
  const scope = {
    on(target, type, fn, options) {
      target.addEventListener(type, fn, options);
      return keep(() => target.removeEventListener(type, fn, options));
    },
    every(ms, fn) {
      const id = setInterval(fn, ms);
      return keep(() => clearInterval(id));
    },
    later(ms, fn) {
      const id = setTimeout(() => (end(), fn()), ms);
      const end = keep(() => clearTimeout(id));
      return end;
    },
    frame(fn) {
      const id = requestAnimationFrame((at) => (end(), fn(at)));
      const end = keep(() => cancelAnimationFrame(id));
      return end;
    },
    observe(observer) {
      keep(() => observer.disconnect());
      return observer;
    },
    child() {
      const inner = createScope();
      keep(() => inner.dispose());
      return inner;
    },
    dispose() {
      for (const end of [...ends]) end();
    },
  };
  return scope;
}
