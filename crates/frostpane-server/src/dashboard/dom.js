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
