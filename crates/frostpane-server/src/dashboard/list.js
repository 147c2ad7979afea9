// The list: a row with a bar for each key, which moves with its rank.

import { copy, draw, make, moves, say } from "./dom.js";
import { ranges, rankText } from "./order.js";
import { grouped } from "./words.js";

const COLUMNS = 48;
const TIME = 600;

const head = (name, text) => make("th", { scope: "col", role: "columnheader", class: name }, text);

/** A table of heavy hitters. */
export class List {
  #rows = new Map();
  #caption = make("caption");
  #top;
  #most = make("span");
  #body = make("tbody", { role: "rowgroup" });
  #followed;
  #made = 0;

  /** `followed` is called with the key that the user follows, or null. */
  constructor(place, followed) {
    this.#followed = followed;
    const scale = make("td", { class: "bar", "aria-hidden": "true" }, make("span", {}, "0"), this.#most);
    const heads = [head("rank", "Rank"), head("name", "Key"), head("count", "Count"), head("interval", "Between"), scale];
    this.#top = make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, ...heads));
    place.replaceChildren(make("table", { class: "list", role: "table" }, this.#caption, this.#top, this.#body));
  }

  /** Shows a release; `colour` returns the colour of a key's line in the chart, if it has one. */
  show({ heavy }, names, colour) {
    const before = new Map([...this.#rows].map(([key, row]) => [key, row.element.getBoundingClientRect().top]));
    const most = Math.max(1, ...heavy.map(({ high }) => high));
    const focused = document.activeElement;
    const ranks = ranges(heavy);
    const tied = [...ranks.values()].some(([best, worst]) => best < worst);
    this.#top.hidden = heavy.length === 0;
    this.#caption.textContent = heavy.length === 0 ? "No key is listed." : `${heavy.length} ${heavy.length === 1 ? "key" : "keys, by falling count"}. Bars show the count, whiskers the interval.${tied ? " A rank such as 2–4: the intervals overlap, so it may be any of these." : ""}`;
    this.#most.textContent = grouped(most);
    const rows = heavy.map((one) => this.#row(one, rankText(ranks.get(one.key)), most, names, colour(one.key)));
    const listed = new Set(heavy.map(({ key }) => key));
    for (const key of [...this.#rows.keys()]) if (!listed.has(key)) this.#rows.delete(key);
    this.#body.replaceChildren(...rows);
    // Moving a row loses the focus.
    if (focused !== document.activeElement && focused?.isConnected) focused.focus({ preventScroll: true });
    if (before.size && moves()) this.#glide(before);
  }

  follow(key) {
    for (const [one, { element, button }] of this.#rows) {
      element.classList.toggle("followed", one === key);
      button.setAttribute("aria-pressed", String(one === key));
    }
  }

  #glide(before) {
    for (const [key, { element }] of this.#rows) {
      const from = before.get(key);
      const by = from - element.getBoundingClientRect().top;
      const [start, end] = from === undefined ? [{ opacity: 0 }, { opacity: 1 }] : [{ transform: `translateY(${by}px)` }, { transform: "none" }];
      if (by !== 0) element.animate([start, end], { duration: TIME, easing: "ease-in-out" });
    }
  }

  #row({ key, count, low, high }, rank, most, names, colour) {
    if (!this.#rows.has(key)) this.#rows.set(key, this.#empty(key));
    const row = this.#rows.get(key);
    this.#spell(row, key, names);
    const place = (value) => `${(100 * value) / most}%`;
    row.rank.textContent = rank;
    row.button.className = colour === undefined ? "key" : colour < 0 ? "key grey" : `key c${colour}`;
    row.count.textContent = grouped(count);
    row.interval.textContent = `${grouped(low)} to ${grouped(high)}`;
    row.fill.style.width = place(count);
    [row.low, row.high, row.between].forEach((part, index) => (part.style.x = place([low, high, low][index])));
    row.between.style.width = place(high - low);
    return row.element;
  }

  /** Shows the name of a key, with its full text if it is cut, or its code points if it has escapes. */
  #spell(row, key, names) {
    const [text, whole] = [names.text(key, COLUMNS), names.text(key)];
    const points = text === whole ? names.points(key) : whole;
    if (row.name.textContent === text && row.points.textContent === points) return;
    row.name.replaceChildren(...names.pieces(key, COLUMNS).map(({ text, odd }) => (odd ? make("span", { class: "odd" }, text) : text)));
    say(row.points, points);
    row.points.hidden = !points;
    if (points) row.button.setAttribute("aria-describedby", row.points.id);
    else row.button.removeAttribute("aria-describedby");
  }

  #empty(key) {
    const name = make("bdi");
    const button = make("button", { type: "button", class: "key", "aria-pressed": "false" }, name);
    const points = make("span", { class: "points small", id: `points-${this.#made++}` });
    const done = make("span", { role: "status", class: "small" });
    const copied = make("button", { type: "button", class: "small" }, "Copy key");
    copied.addEventListener("click", async () => say(done, (await copy(key)) ? "Copied." : "The browser does not allow it."));
    const about = make("p", { class: "about" }, copied, " ", done);
    const cell = (name) => make("td", { role: "cell", class: name });
    const [rank, count, interval] = [cell("rank"), cell("count"), cell("interval")];
    const part = (name, y, height, width) => draw("rect", { class: name, y, height, width });
    const fill = part("fill", 2, 12, 0);
    const [low, high, between] = [part("", 4, 8, 1.5), part("", 4, 8, 1.5), part("", 7.25, 1.5, 0)];
    const bar = draw("svg", { width: "100%", height: 16 }, fill, draw("g", { class: "whisker" }, between, low, high));
    const element = make("tr", { role: "row" }, rank, make("th", { scope: "row", role: "rowheader", class: "name" }, button, points, about), count, interval, make("td", { class: "bar", "aria-hidden": "true" }, bar));
    button.addEventListener("click", () => this.#followed(button.getAttribute("aria-pressed") === "true" ? null : key));
    return { element, button, name, points, rank, count, interval, fill, low, high, between };
  }
}
