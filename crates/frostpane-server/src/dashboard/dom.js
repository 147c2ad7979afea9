// DOM elements. Input becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

/** An HTML element with attributes and children; strings are text. */
export const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

/** The same for SVG. */
export const draw = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

export const at = (id) => document.getElementById(id);

/** Sets the text of an element unless it is the same, so that screen readers do not repeat it. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Shows a problem, or hides the element. */
export function complain(element, problem) {
  element.hidden = !problem;
  say(element, problem ? `${sentence(problem.message)} ${sentence(problem.then ?? "")}`.trim() : "");
}

const sentence = (text) => (text ? `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}` : "");

/** Copies a text; returns true if that was possible. */
export async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text).then(() => true, () => false);
  // Without TLS a browser has no clipboard for scripts, but still the command.
  const area = make("textarea", { readonly: true, class: "unseen" });
  area.value = text;
  const focused = document.activeElement;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  focused?.focus();
  return done;
}

/** True if animations are allowed. */
export const moves = () => matchMedia("(prefers-reduced-motion: no-preference)").matches;

/** Makes a toggle of a button; returns a function that tells its state. */
export function toggle(button, changed) {
  const pressed = () => button.getAttribute("aria-pressed") === "true";
  button.addEventListener("click", () => {
    button.setAttribute("aria-pressed", String(!pressed()));
    changed(pressed());
  });
  return pressed;
}
