// Rank over time: a line for each key that ranked high, up to the latest list.

import { draw, make } from "./dom.js";
import { Names } from "./keys.js";
import { Labels } from "./labels.js";
import { ranges, rankText, settle, tied } from "./order.js";
import { grouped, isMoment, marks, position } from "./words.js";

/** Keys that were ever among the first `TOP` have a line; ranks below `DEEPEST` are not drawn. */
const TOP = 10;
const DEEPEST = 15;
const COLOURS = 10;
/** In pixels. */
const HEAD = 30;
const LANE = 34;
const DOT = 4;
const STEP = 28;
const LETTER = 7.6;
const PILL = { height: 20, letter: 7, pad: 8, room: 22 };
/** The most lists in the chart, and in memory. */
const LOOKS = 16;
export const HELD = 60;
/** Possible numbers of lists between two in the chart. */
const STRIDES = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 60];

/** The chart of the lists of a stream. */
export class Ranks {
  #lists = [];
  #colours = new Map();
  #names = new Names([]);
  #place;
  #svg = draw("svg", { class: "bump", role: "img", "aria-labelledby": "bump-title bump-desc" });
  #title = draw("title", { id: "bump-title" }, "Rank of keys over time");
  #desc = draw("desc", { id: "bump-desc" });
  #axis = draw("g", { class: "axis" });
  #series = new Map();
  #words = make("p", { class: "small" });
  #legend = make("ul", { class: "legend small" });
  #table = make("div", { class: "scroll", role: "region", "aria-label": "Ranks and counts", tabindex: 0 });
  #details = make("details", { class: "ranks" }, make("summary", {}, "Ranks and counts as a table"), this.#table);
  #shown = [];
  #followed = null;

  constructor(place) {
    this.#place = make("div", { class: "chart" }, this.#svg);
    this.#svg.append(this.#title, this.#desc, this.#axis);
    place.replaceChildren(this.#words, this.#place, this.#legend, this.#details);
    this.#details.addEventListener("toggle", () => this.#tell());
    new ResizeObserver(() => this.draw()).observe(this.#place);
  }

  /** Adds a list. */
  add(list) {
    const { heavy } = list.release;
    list.order = settle(this.#lists.at(-1)?.order ?? [], heavy);
    list.found = new Map(heavy.map((one) => [one.key, one]));
    list.ranges = ranges(heavy);
    this.#lists.push(list);
    if (this.#lists.length > HELD) this.#lists.shift();
  }

  get keys() {
    return this.#lists.flatMap(({ order }) => order.slice(0, TOP));
  }

  colour = (key) => this.#colours.get(key);

  /** Highlights the line of a key. */
  follow(key) {
    this.#followed = key;
    this.#svg.classList.toggle("following", this.#series.has(key));
    for (const [one, series] of this.#series) series.group.classList.toggle("followed", one === key);
  }

  /** Draws the lists up to a number. */
  draw(upTo = this.#shown.at(-1)?.number, names = this.#names) {
    this.#names = names;
    const width = this.#place.clientWidth;
    const columns = pick(this.#lists.filter(({ number }) => number <= upTo), Math.floor((width - gutter(width)) / STEP));
    if (columns.length === 0 || width === 0) return;
    const wide = this.#svg.getAttribute("width") === String(width);
    const shifted = !wide || columns[0].number !== this.#shown[0]?.number || columns.length !== this.#shown.length;
    const keys = lines(columns);
    const frame = new Frame(width, columns, keys);
    this.#shown = frame.columns;
    this.#choose(keys);
    this.#svg.setAttribute("width", width);
    this.#svg.setAttribute("height", frame.height);
    this.#svg.setAttribute("viewBox", `0 0 ${width} ${frame.height}`);
    this.#svg.classList.toggle("still", shifted);
    this.#axis.replaceChildren(...axis(frame), ...ties(frame, keys));
    for (const [key, { group }] of this.#series) {
      if (keys.includes(key)) continue;
      group.remove();
      this.#series.delete(key);
    }
    for (const key of keys) this.#line(key, frame);
    this.#label(keys, frame);
    this.#tell();
    this.follow(this.#followed);
  }

  /** Assigns colours: a key keeps its own, the highest keys differ, and the rest have none. */
  #choose(keys) {
    const coloured = keys.slice(0, COLOURS);
    const kept = new Map(coloured.filter((key) => this.#colours.get(key) >= 0).map((key) => [key, this.#colours.get(key)]));
    const free = Array.from({ length: COLOURS }, (_, colour) => colour).filter((colour) => ![...kept.values()].includes(colour));
    this.#colours = new Map(keys.map((key, index) => [key, kept.get(key) ?? (index < COLOURS ? free.shift() : -1)]));
  }

  #line(key, frame) {
    if (!this.#series.has(key)) this.#series.set(key, new Series(key, this.#svg));
    this.#series.get(key).draw(frame, this.#colours.get(key), this.#names);
  }

  /** Names lines that continue, and, where there is space, those that have ended. */
  #label(keys, frame) {
    const all = keys.map((key) => this.#series.get(key));
    const labels = new Labels(frame, all);
    this.unnamed = all.filter((series) => !series.label(frame, labels)).map(({ key }) => key);
  }

  #tell() {
    const [first, last] = [this.#shown[0], this.#shown.at(-1)];
    if (!last) return;
    const name = (key) => this.#names.text(key, 48);
    const leader = ({ order }) => (order.length ? name(order[0]) : "no key");
    const ends = [first, last].map(({ release }) => release.window.to);
    const [from, to] = marks(ends);
    const unit = ends.every(isMoment) ? " (UTC)" : "";
    this.#words.textContent = first === last ? "One list so far: lines begin with the second." : `By the end of the window, from ${from} to ${to}${unit}.`;
    this.#desc.textContent = `${this.#shown.length} lists and ${this.#series.size} keys. First in rank: ${leader(first)} at ${from}, ${leader(last)} at ${to}. The table below has all ranks and counts.`;
    this.#legend.replaceChildren(...this.#entries(name));
    if (this.#details.open) this.#table.replaceChildren(table(this.#shown, [...this.#series.keys()], this.#names));
  }

  #entries(name) {
    const entry = (swatch, ...text) => make("li", {}, make("span", { class: `swatch ${swatch}`, "aria-hidden": "true" }), make("span", {}, ...text));
    const grey = [...this.#colours.values()].includes(-1);
    return [
      entry("tie", "Tied: the intervals overlap, so either key may have the higher count. Lanes change only when disjoint intervals show a new order."),
      entry("gap", `A gap: not listed, or below rank ${DEEPEST}.`),
      ...(grey ? [entry("grey", `Grey: beyond the ${COLOURS} keys that have a colour.`)] : []),
      ...(this.unnamed?.length ? [entry("none", `No room for a name: ${this.unnamed.map(name).join(", ")}.`)] : []),
    ];
  }
}

const gutter = (width) => (width < 480 ? Math.max(150, width / 2) : 184);

/** Selects lists: always the latest, and others that do not change while it moves. */
function pick(lists, room) {
  const columns = Math.max(2, Math.min(LOOKS, room));
  const stride = STRIDES.find((stride) => lists.length / stride <= columns - 1) ?? STRIDES.at(-1);
  const latest = lists.at(-1);
  return lists.filter(({ number }) => number % stride === 0 || number === latest.number).slice(-columns);
}

const laneIn = (list, key) => {
  const lane = 1 + list.order.indexOf(key);
  return lane > 0 && lane <= DEEPEST ? lane : null;
};

/** The keys that have a line, the highest in the latest list first. */
function lines(columns) {
  return [...new Set([...columns].reverse().flatMap(({ order }) => order.slice(0, TOP)))];
}

/** Coordinates: window ends from left to right, lanes from top to bottom. */
class Frame {
  #xs;

  constructor(width, columns, keys) {
    const left = DOT + 6;
    const long = Math.min(width - gutter(width), 110 * (columns.length - 1));
    const ends = columns.map(({ release }) => position(release.window.to));
    const places = ends.includes(null) ? columns.map(({ number }) => number) : ends;
    const [first, last] = [places[0], places.at(-1)];
    const xs = places.map((place) => left + (last > first ? (long * (place - first)) / (last - first) : 0));
    // Leaves out lists that the latest would cover.
    const shown = columns.map((_, column) => column === columns.length - 1 || xs.at(-1) - xs[column] > PILL.room + DOT);
    this.columns = columns.filter((_, column) => shown[column]);
    this.#xs = xs.filter((_, column) => shown[column]);
    this.width = width;
    this.letters = Math.floor((gutter(width) - 2 * PILL.room - 14) / LETTER);
    this.lanes = Math.max(1, ...this.columns.flatMap((list) => keys.map((key) => laneIn(list, key) ?? 1)));
    this.height = HEAD + LANE * this.lanes;
  }

  x(column) {
    return this.#xs[column];
  }

  y(lane) {
    return HEAD + LANE * (lane - 0.5);
  }
}

/** The axis: as many window ends as fit, the latest first. */
function axis(frame) {
  const texts = marks(frame.columns.map(({ release }) => release.window.to));
  let room = Infinity;
  const columns = texts.map((text, column) => [text, frame.x(column), frame.columns[column].number]);
  return columns.reverse().flatMap(([text, x, number]) => {
    const half = (text.length * LETTER) / 2;
    const line = draw("line", { x1: x, x2: x, y1: HEAD - 6, y2: frame.height, "data-list": number });
    if (x + half > room || x - half < 0) return [line];
    room = x - half - LETTER;
    return [line, draw("text", { x, y: 14 }, text)];
  });
}

/** A bar between keys on adjacent lanes whose intervals overlap. */
function ties(frame, keys) {
  const drawn = new Set(keys);
  return frame.columns.flatMap(({ order, found }, column) => {
    const joined = order.slice(0, DEEPEST).map((key, lane) => [key, order[lane + 1], lane + 1]);
    const pairs = joined.filter(([key, next, lane]) => lane < DEEPEST && drawn.has(key) && drawn.has(next) && tied(found.get(key), found.get(next)));
    return pairs.map(([, , lane]) => draw("rect", { class: "tie", x: frame.x(column) - 5, width: 10, y: frame.y(lane), height: LANE }));
  });
}

/** The line of a key, whose dots move when a list arrives. */
class Series {
  group;
  key;
  /** Its columns and lanes. */
  points = [];
  #title = draw("title");
  #path = draw("path");
  #dots = new Map();
  #rank = draw("text", { class: "rank", y: 4 });
  #pill = draw("rect", { class: "pill", y: -PILL.height / 2, height: PILL.height, rx: PILL.height / 2 });
  #latest = draw("g", { class: "dot latest" }, this.#pill, this.#rank);
  #name = draw("text", { class: "name" });

  constructor(key, svg) {
    this.key = key;
    this.group = draw("g", { class: "series" }, this.#title, this.#path, this.#latest, this.#name);
    svg.append(this.group);
  }

  draw(frame, colour, names) {
    this.group.setAttribute("class", `series ${colour < 0 ? "grey" : `c${colour}`}`);
    this.#title.textContent = names.text(this.key);
    const lanes = frame.columns.map((list) => laneIn(list, this.key));
    this.#path.setAttribute("d", curve(frame, lanes));
    this.points = lanes.flatMap((lane, column) => (lane === null ? [] : [[column, lane]]));
    const last = lanes.length - 1;
    const past = new Map(frame.columns.slice(0, last).map(({ number }, column) => [number, column]));
    for (const [number, dot] of this.#dots) if (!past.has(number)) this.#drop(number, dot);
    for (const [number, column] of past) this.#dot(number, frame, column, lanes[column]);
    this.#end(frame, last, lanes[last]);
    const goesOn = lanes[last] !== null;
    this.#name.textContent = names.text(this.key, goesOn ? frame.letters : 16);
  }

  #drop(number, dot) {
    dot.remove();
    this.#dots.delete(number);
  }

  #dot(number, frame, column, lane) {
    const known = this.#dots.get(number);
    if (lane === null) return known && this.#drop(number, known);
    const dot = known ?? draw("circle", { class: "dot", r: DOT });
    dot.style.transform = `translate(${frame.x(column)}px, ${frame.y(lane)}px)`;
    if (!known) this.group.insertBefore(dot, this.#latest);
    this.#dots.set(number, dot);
  }

  /** The dot in the latest list, with the possible ranks. */
  #end(frame, column, lane) {
    this.#latest.style.display = lane === null ? "none" : "";
    if (lane === null) return;
    const text = rankText(frame.columns[column].ranges.get(this.key));
    const wide = Math.max(PILL.height, text.length * PILL.letter + PILL.pad);
    this.#rank.textContent = text;
    this.#pill.setAttribute("x", -wide / 2);
    this.#pill.setAttribute("width", wide);
    this.#latest.style.transform = `translate(${frame.x(column)}px, ${frame.y(lane)}px)`;
  }

  /** Places the name of the line. Returns false if there is no space. */
  label(frame, labels) {
    const [column, lane] = this.points.at(-1);
    const goesOn = column === frame.columns.length - 1;
    this.#name.setAttribute("class", goesOn ? "name" : "name ended");
    this.#name.style.display = "";
    const place = goesOn ? [frame.x(column) + PILL.room + 4, frame.y(lane) + 4.5] : labels.place(this, this.#name.getComputedTextLength());
    if (!place) this.#name.style.display = "none";
    else this.#name.style.transform = `translate(${place[0]}px, ${place[1]}px)`;
    return Boolean(place);
  }
}

function curve(frame, lanes) {
  let path = "";
  lanes.forEach((lane, column) => {
    if (lane === null) return;
    const [x, y] = [frame.x(column), frame.y(lane)];
    const before = lanes[column - 1];
    const middle = column && (x + frame.x(column - 1)) / 2;
    path += before ? `C${middle},${frame.y(before)} ${middle},${y} ${x},${y}` : `M${x},${y}`;
  });
  return path;
}

function table(columns, keys, names) {
  const heads = marks(columns.map(({ release }) => release.window.to)).map((text) => make("th", { scope: "col" }, text));
  const cell = ({ found, ranges }, key) => {
    if (!found.has(key)) return make("td", { class: "small" }, "not listed");
    return make("td", {}, make("b", {}, rankText(ranges.get(key))), " ", make("span", { class: "small" }, grouped(found.get(key).count)));
  };
  const row = (key) => make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, names.text(key, 32))), ...columns.map((list) => cell(list, key)));
  return make(
    "table",
    {},
    make("caption", {}, "The ranks that each key may have, and its noisy count, in each list"),
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Key"), ...heads)),
    make("tbody", {}, ...keys.map(row)),
  );
}
