// The forecast for a specification that is set with sliders.

import { post, rest } from "./api.js";
import { at, complain, copy, make, say } from "./dom.js";
import { grouped, percent, small, span } from "./words.js";

const steps = (from, to) => {
  const all = [];
  for (let power = from; power < to; power++) all.push(...[1, 2, 5].map((digit) => digit * 10 ** power));
  return [...all, 10 ** to];
};
const WINDOWS = ["10m", "1h", "6h", "1d", "2d", "7d", "14d", "30d", "90d"];
/** Epochs are days, and so are windows. */
const DAYS = WINDOWS.filter((window) => window.endsWith("d"));
/** The number of keys in the example of Zipf's law. */
const KEYS = 10_000;
/** Milliseconds from the last change to the request. */
const AFTER = 120;
/** Milliseconds until a request is repeated when the service is busy. */
const PATIENCE = 700;

const EPSILONS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 4, 6, 8, 10];
const KEYS_EACH = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32];

/** A slider over a list of values. */
class Slider {
  #input;
  #output = make("output");
  #values;
  #words;
  element;

  constructor(id, title, hint, values, initial, words) {
    this.#words = words;
    this.#input = make("input", { type: "range", id, min: 0, step: 1, "aria-describedby": `${id}-hint` });
    this.#output.setAttribute("for", id);
    this.element = make("div", { class: "slider" }, make("label", { for: id }, title), this.#output, this.#input, make("p", { class: "small", id: `${id}-hint` }, hint));
    this.among(values, initial);
    this.#input.addEventListener("input", () => this.#tell());
  }

  /** Sets the list of values; the value stays if it is in the list. */
  among(values, value = this.value) {
    this.#values = values;
    this.#input.max = values.length - 1;
    this.#input.value = Math.max(0, values.indexOf(value));
    this.#tell();
  }

  get value() {
    return this.#values[Number(this.#input.value)];
  }

  #tell() {
    const text = this.#words(this.value);
    say(this.#output, text);
    this.#input.setAttribute("aria-valuetext", text);
  }
}

const epsilon = new Slider("epsilon", "Epsilon", "Privacy loss of one event or user. Smaller is more private and noisier.", EPSILONS, 1, small);
const window_ = new Slider("window", "Window", "The time that a list covers.", WINDOWS, "1d", span);
const perUser = new Slider("per-user", "Keys per user and day", "With more keys more of each user is counted, with more noise.", KEYS_EACH, 4, String);
const events = new Slider("events", "Events in a window", "The number that you expect; with users, the number of counted contributions.", steps(3, 8), 100_000, grouped);
at("sliders").append(...[epsilon, window_, perUser, events].map(({ element }) => element));

const form = at("form");
const users = () => form.elements.unit.value === "user";

function spec() {
  return {
    unit: users() ? { user: { per_user: perUser.value, epoch: "1d" } } : "event",
    window: window_.value,
    epsilon: epsilon.value,
    all: true,
    ...(form.elements.continual.checked ? { continual: true } : {}),
  };
}

let waiting = 0;
let busy = false;
let again = false;

/** Requests one forecast at a time; a change meanwhile causes another request. */
async function ask() {
  again = true;
  if (busy) return;
  busy = true;
  while (again) {
    again = false;
    try {
      answer(await post(`/v1/plan?events=${events.value}`, spec()));
      complain(at("problem"), null);
    } catch (problem) {
      again = problem.status === 429;
      if (again) await rest(PATIENCE);
      else complain(at("problem"), problem);
    }
  }
  busy = false;
}

function changed() {
  perUser.element.hidden = !users();
  window_.among(users() ? DAYS : WINDOWS);
  at("spec").textContent = JSON.stringify(spec(), null, 2);
  clearTimeout(waiting);
  waiting = setTimeout(ask, AFTER);
}

/** The count from which on a key is surely listed, and the largest that is never listed. */
function limits({ threshold, least_listed: sure, cut }) {
  return { threshold, sure, never: Math.max(1, 2 * threshold - sure - cut) };
}

function answer({ forecast, words, per_user: compared, events: expected }) {
  const { sure, never } = limits(forecast);
  const counted = users() ? "is counted" : "occurs";
  const parts = [make("p", { class: "figure", id: "sure" }, `A key that ${counted} `, make("b", {}, `${grouped(sure)} times`), " or more is surely listed.")];
  if (sure > expected) parts.push(make("p", { class: "warn" }, `The window has only ${grouped(expected)}, so nothing will be listed. Choose a larger epsilon, or a window with more events.`));
  else parts.push(make("p", {}, `That is ${percent(sure / expected)} of the ${grouped(expected)} in a window. ${example(sure, never, expected)}`));
  parts.push(axis(sure, never, expected), make("ul", { class: "holds" }, ...words.map((text) => make("li", {}, text))));
  at("answer").replaceChildren(...parts);
  at("keys").hidden = !compared;
  if (compared) at("compared").replaceChildren(comparison(compared));
}

/** The length of the list for counts by Zipf's law. */
function example(sure, never, expected) {
  let whole = 0;
  for (let rank = 1; rank <= KEYS; rank++) whole += 1 / rank;
  const listed = (least) => Math.min(KEYS, Math.floor(expected / whole / least));
  const [least, most] = [listed(sure), listed(never)];
  const number = least === most ? grouped(least) : `${grouped(least)} to ${grouped(most)}`;
  return `Example: of ${grouped(KEYS)} keys with counts by Zipf's law (1, 1/2, 1/3 and so on of the first), ${number} would be listed.`;
}

/** Counts on a logarithmic axis: never listed, undecided, surely listed. */
function axis(sure, never, expected) {
  const end = Math.max(expected, 2 * sure);
  const place = (count) => Math.log(count) / Math.log(end);
  const zones = [
    ["never", 0, place(never), "not listed"],
    ["maybe", place(never), place(sure), "noise decides"],
    ["surely", place(sure), 1, "surely listed"],
  ];
  const zone = ([name, from, to, text]) => {
    const element = make("div", { class: `zone ${name}` }, make("span", {}, to - from > 0.16 ? text : ""));
    element.style.flexGrow = to - from;
    return element;
  };
  const tick = (count, name) => {
    const element = make("span", { class: name }, grouped(count));
    element.style.insetInlineStart = `${100 * place(count)}%`;
    return element;
  };
  return make("div", { class: "zones", "aria-hidden": "true" }, make("div", { class: "plot" }, ...zones.map(zone)), make("div", { class: "ticks small" }, tick(1, "first"), tick(never, "left"), tick(sure, "right")), make("p", { class: "small ends" }, make("span", {}, "count of a key"), make("span", {}, grouped(end))));
}

/** The noise by the number of keys per user. */
function comparison(compared) {
  const most = Math.max(...compared.map(({ least_listed_at_floor: least }) => least));
  const head = (text, name) => make("th", { scope: "col", class: name }, text);
  const row = ({ per_user: keys, least_listed_at_floor: least, noise_law: law }) => {
    const bar = make("div", { class: "level" });
    bar.style.width = `${(100 * least) / most}%`;
    return make("tr", { class: keys === perUser.value ? "followed" : null }, make("th", { scope: "row" }, keys), make("td", { class: "count" }, grouped(least)), make("td", {}, law), make("td", { class: "bar", "aria-hidden": "true" }, bar));
  };
  return make(
    "table",
    { class: "compared" },
    make("caption", {}, "The count from which on a key is surely listed"),
    make("thead", {}, make("tr", {}, head("Keys"), head("Count", "count"), head("Noise"), make("td", { class: "bar" }))),
    make("tbody", {}, ...compared.map(row)),
  );
}

at("copy").addEventListener("click", async () => {
  say(at("copied"), (await copy(at("spec").textContent)) ? "Copied." : "The browser does not allow it: select the text.");
});
form.addEventListener("input", changed);
form.addEventListener("submit", (event) => event.preventDefault());
changed();
