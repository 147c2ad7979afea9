// The privacy budget: spending of each pane, releases left, and when there will be more.

import { get, of } from "./api.js";
import { make } from "./dom.js";
import { edge, grouped, isMoment, many, mark, marks, position, small, span } from "./words.js";

/** Milliseconds between two requests for the budget. */
const AGAIN = 10_000;
/** The most panes that are drawn one by one. */
const MOST = 180;

export class Budget {
  #place;
  #stream;
  #open = false;
  #latest = [0, null];

  constructor(place, stream) {
    this.#place = place;
    this.#stream = stream;
    setInterval(() => document.hidden || this.#look(), AGAIN);
  }

  /** Shows the budget after a release; single releases change it. */
  show(number, release) {
    const first = this.#latest[0] === 0;
    this.#latest = [number, release];
    if (first || !this.#stream.continual) this.#look();
  }

  async #look() {
    const budget = await get(of(this.#stream.name, "/budget")).catch(() => null);
    if (budget) this.#fill(budget, ...this.#latest);
  }

  #fill(budget, number) {
    const words = budget.continual ? sequence(this.#stream) : single(budget, this.#stream);
    const paragraphs = words.map((text) => make("p", {}, ...text));
    // Before the first release no pane has a time.
    const periods = budget.periods.filter(({ from, to }) => position(from) !== null && position(to) !== null);
    if (!number || !periods.length) return this.#place.replaceChildren(...paragraphs);
    budget = { ...budget, periods };
    const details = make("details", { open: this.#open }, make("summary", {}, "As a table"), table(budget));
    details.addEventListener("toggle", () => (this.#open = details.open));
    const focused = this.#place.contains(document.activeElement);
    this.#place.replaceChildren(...paragraphs, chart(budget), details);
    if (focused) details.firstChild.focus({ preventScroll: true });
  }
}

/** Continual release: each pane is charged once. */
function sequence(stream) {
  return [[make("b", {}, "Charged once."), ` Every pane is charged epsilon ${small(stream.spec.epsilon)} when it opens. That covers all lists it is in: later lists cost nothing more.`]];
}

function single({ charge, left, more }, { spec }) {
  const words = [[make("b", {}, left === 1 ? "1 release is left" : `${grouped(left)} releases are left`), ` for the longest window, ${span([spec.window].flat().at(-1))}. Each one charges epsilon ${small(charge.epsilon)} to every pane in the window.`]];
  if (more && position(more.at) !== null) words.push([`The panes that have spent most leave the window ${isMoment(more.at) ? `on ${edge(more.at)} (UTC)` : `at ${edge(more.at)}`}; then ${many(more.left, "release is", "releases are")} left.`]);
  return words;
}

/** The fraction of the cap that is spent. */
function share(spent, cap) {
  const part = cap.rho > 0 ? spent.rho / cap.rho : spent.epsilon / cap.epsilon;
  return Math.min(1, part || 0);
}

/** A column for each pane; for very many panes, one for each period, as wide as its panes. */
function chart({ periods, cap }) {
  const all = periods.reduce((sum, { panes }) => sum + panes, 0);
  const column = (wide, spent) => {
    const filled = make("div", { class: "spent" });
    filled.style.height = `${100 * share(spent, cap)}%`;
    const element = make("div", { class: "pane" }, filled);
    element.style.flexGrow = wide;
    return element;
  };
  const columns = ({ panes, spent }) => (all > MOST ? [column(panes, spent)] : Array.from({ length: panes }, () => column(1, spent)));
  const [from, to] = marks([periods[0].from, periods.at(-1).to]);
  return make(
    "div",
    { class: "panes", "aria-hidden": "true" },
    make("p", { class: "small cap" }, cap.rho > 0 ? `at most rho ${small(cap.rho)}` : `at most epsilon ${small(cap.epsilon)}`),
    make("div", { class: "plot" }, ...periods.flatMap(columns)),
    make("p", { class: "small ends" }, make("span", {}, from), make("span", {}, "spent by each pane"), make("span", {}, to)),
  );
}

function table({ periods, cap }) {
  const head = (text) => make("th", { scope: "col" }, text);
  const row = ({ from, to, panes, spent, leaves }) => {
    const loss = cap.rho > 0 ? `rho ${small(spent.rho)}` : small(spent.epsilon);
    return make("tr", {}, make("th", { scope: "row" }, marks([from, to]).join(" up to ")), ...[grouped(panes), loss, mark(leaves)].map((text) => make("td", {}, text)));
  };
  return make(
    "div",
    { class: "scroll", role: "region", "aria-label": "Budget of panes", tabindex: 0 },
    make(
      "table",
      {},
      make("caption", {}, "One row for adjacent panes that have spent the same"),
      make("thead", {}, make("tr", {}, ...["Panes", "Number", cap.rho > 0 ? "Spent" : "Epsilon spent", "Out of the window"].map(head))),
      make("tbody", {}, ...periods.map(row)),
    ),
  );
}
