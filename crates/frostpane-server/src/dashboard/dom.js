// Elements. Text from outside becomes text and nothing else: there is no other way in here.

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

/** The element with an id. */
export const at = (id) => document.getElementById(id);

/** Says something in an element; the same again changes nothing, so that nobody hears it twice. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Shows what went wrong, or nothing. */
export function complain(element, problem) {
  element.hidden = !problem;
  say(element, problem ? `${sentence(problem.message)} ${sentence(problem.then ?? "")}`.trim() : "");
}

const sentence = (text) => (text ? `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}` : "");

/** Copies a text; returns whether it could. */
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

/** Whether things may move. */
export const moves = () => matchMedia("(prefers-reduced-motion: no-preference)").matches;

/** A button that stays pressed; returns whether it is. */
export function toggle(button, changed) {
  const pressed = () => button.getAttribute("aria-pressed") === "true";
  button.addEventListener("click", () => {
    button.setAttribute("aria-pressed", String(!pressed()));
    changed(pressed());
  });
  return pressed;
}
