// What every pane has spent, how many releases are left, and when there will be more.

import { get, of } from "./api.js";
import { make } from "./dom.js";
import { edge, grouped, isMoment, many, mark, small, span } from "./words.js";

/** It changes with panes and releases: looked at so often. */
const AGAIN = 10_000;
/** More panes are not drawn one by one. */
const MOST = 180;

/** The budget of a stream. */
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

  /** Shows it after a release; one that was asked for has changed it. */
  show(number, release) {
    const first = this.#latest[0] === 0;
    this.#latest = [number, release];
    if (first || !this.#stream.continual) this.#look();
  }

  async #look() {
    const budget = await get(of(this.#stream.name, "/budget")).catch(() => null);
    if (budget) this.#fill(budget, ...this.#latest);
  }

  #fill(budget, number, release) {
    const words = budget.continual ? sequence(this.#stream, number, release) : single(budget, this.#stream);
    const details = make("details", { open: this.#open }, make("summary", {}, "As a table"), table(budget));
    details.addEventListener("toggle", () => (this.#open = details.open));
    const focused = this.#place.contains(document.activeElement);
    this.#place.replaceChildren(...words.map((text) => make("p", {}, ...text)), chart(budget), details);
    if (focused) details.firstChild.focus({ preventScroll: true });
  }
}

/** A list at every slide: each pane has paid once, and the lists run on until the horizon. */
function sequence(stream, number, release) {
  const { epsilon, horizon } = stream.spec;
  const words = [[make("b", {}, "Paid once."), ` Every pane has lost epsilon ${small(epsilon)} when it was born, for all lists it will ever be in. However many lists follow, it loses no more.`]];
  if (release?.delta && horizon) {
    const left = Math.max(0, horizon - number);
    const seconds = Date.now() / 1_000 + left * (stream.slide_seconds ?? 0);
    const end = new Date(Math.floor(seconds / 60) * 60_000).toISOString();
    const until = stream.slide_seconds ? `, until ${edge(end)} (UTC)` : "";
    words.push([make("b", {}, `${grouped(left)} lists are left`), ` of the ${grouped(horizon)} that delta holds for${until}.`]);
  }
  return words;
}

/** Lists that are asked for, one at a time. */
function single({ charge, left, more }, { spec }) {
  const words = [[make("b", {}, left === 1 ? "1 release is left" : `${grouped(left)} releases are left`), ` of the longest window, ${span([spec.window].flat().at(-1))}. Each costs every pane that it covers epsilon ${small(charge.epsilon)}.`]];
  if (more) words.push([`Panes leave the window: ${isMoment(more.at) ? `on ${edge(more.at)} (UTC)` : `with ${edge(more.at)}`} there will be ${many(more.left, "release")} left.`]);
  return words;
}

/** How much of the most that it may spend, between 0 and 1. */
function share(spent, cap) {
  const part = cap.rho > 0 ? spent.rho / cap.rho : spent.epsilon / cap.epsilon;
  return Math.min(1, part || 0);
}

/** A column for each pane; of very many, one for those that have spent the same, as wide as they are many. */
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
  const [first, last] = [periods[0], periods.at(-1)];
  if (!first) return make("p", { class: "small" }, "No pane is kept yet.");
  return make(
    "div",
    { class: "panes", "aria-hidden": "true" },
    make("p", { class: "small cap" }, cap.rho > 0 ? `at most rho ${small(cap.rho)}` : `at most epsilon ${small(cap.epsilon)}`),
    make("div", { class: "plot" }, ...periods.flatMap(columns)),
    make("p", { class: "small ends" }, make("span", {}, mark(first.from)), make("span", {}, "spent by each pane"), make("span", {}, mark(last.to))),
  );
}

function table({ periods, cap }) {
  const head = (text) => make("th", { scope: "col" }, text);
  const row = ({ from, to, panes, spent, leaves }) => {
    const loss = cap.rho > 0 ? `rho ${small(spent.rho)}` : small(spent.epsilon);
    return make("tr", {}, make("th", { scope: "row" }, `${mark(from)} up to ${mark(to)}`), ...[grouped(panes), loss, mark(leaves)].map((text) => make("td", {}, text)));
  };
  return make(
    "div",
    { class: "scroll", role: "region", "aria-label": "Budget of panes", tabindex: 0 },
    make(
      "table",
      {},
      make("caption", {}, "Panes that are next to each other and have spent the same are one row."),
      make("thead", {}, make("tr", {}, ...["Panes", "How many", "Epsilon spent", "Left the window by"].map(head))),
      make("tbody", {}, ...periods.map(row)),
    ),
  );
}
