// Rank over time: a line for each key that was high, up to the latest list.

import { draw, make } from "./dom.js";
import { cut, grouped, mark, printable } from "./words.js";

/** Keys that were ever so high have a line, and lower ranks are not drawn. */
const TOP = 10;
const DEEPEST = 15;
const COLOURS = 12;
/** In pixels. */
const HEAD = 30;
const LANE = 34;
const DOT = 11;
const STEP = 36;
const LETTER = 7.6;
/** As many lists are looked back on at the most. */
const LOOKS = 16;
export const HELD = 60;
/** Lists between two that are looked at. */
const STRIDES = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 60];

/** The course of the lists of a stream. */
export class Ranks {
  #lists = [];
  #colours = new Map();
  #place;
  #svg = draw("svg", { class: "bump", role: "img", "aria-labelledby": "bump-title bump-desc" });
  #title = draw("title", { id: "bump-title" }, "Rank of keys over time");
  #desc = draw("desc", { id: "bump-desc" });
  #axis = draw("g", { class: "axis" });
  #series = new Map();
  #words = make("p", { class: "small" });
  #table = make("div", { class: "scroll", role: "region", "aria-label": "Ranks and counts", tabindex: 0 });
  #details = make("details", { class: "ranks" }, make("summary", {}, "Ranks and counts as a table"), this.#table);
  #shown = [];
  #followed = null;

  constructor(place) {
    this.#place = make("div", { class: "chart" }, this.#svg);
    this.#svg.append(this.#title, this.#desc, this.#axis);
    place.replaceChildren(this.#words, this.#place, this.#details);
    this.#details.addEventListener("toggle", () => this.#tell());
    new ResizeObserver(() => this.draw()).observe(this.#place);
  }

  /** One more list. */
  add(list) {
    this.#lists.push(list);
    if (this.#lists.length > HELD) this.#lists.shift();
  }

  /** The colour of a key's line, if it has one. */
  colour = (key) => this.#colours.get(key);

  /** Only this key's line stands out. */
  follow(key) {
    this.#followed = key;
    this.#svg.classList.toggle("following", this.#series.has(key));
    for (const [one, series] of this.#series) series.group.classList.toggle("followed", one === key);
  }

  /** Draws the lists up to a number, as wide as there is room. */
  draw(upTo = this.#shown.at(-1)?.number) {
    const width = this.#place.clientWidth;
    const columns = pick(this.#lists.filter(({ number }) => number <= upTo), Math.floor((width - gutter(width)) / STEP));
    if (columns.length === 0 || width === 0) return;
    const wide = this.#svg.getAttribute("width") === String(width);
    const shifted = !wide || columns[0].number !== this.#shown[0]?.number || columns.length !== this.#shown.length;
    this.#shown = columns;
    const keys = lines(columns);
    this.#choose(keys);
    const frame = new Frame(width, columns, keys);
    this.#svg.setAttribute("width", width);
    this.#svg.setAttribute("height", frame.height);
    this.#svg.setAttribute("viewBox", `0 0 ${width} ${frame.height}`);
    this.#svg.classList.toggle("still", shifted);
    this.#axis.replaceChildren(...axis(frame));
    for (const [key, { group }] of this.#series) {
      if (keys.includes(key)) continue;
      group.remove();
      this.#series.delete(key);
    }
    for (const key of keys) this.#line(key, frame);
    this.#tell();
    this.follow(this.#followed);
  }

  /** Keys keep the colour that they have. */
  #choose(keys) {
    for (const key of [...this.#colours.keys()]) if (!keys.includes(key)) this.#colours.delete(key);
    const used = (colour) => [...this.#colours.values()].filter((one) => one === colour).length;
    for (const key of keys) {
      if (this.#colours.has(key)) continue;
      const all = Array.from({ length: COLOURS }, (_, colour) => colour);
      this.#colours.set(key, all.reduce((best, colour) => (used(colour) < used(best) ? colour : best)));
    }
  }

  #line(key, frame) {
    if (!this.#series.has(key)) this.#series.set(key, new Series(key, this.#svg));
    this.#series.get(key).draw(frame, this.#colours.get(key));
  }

  #tell() {
    const [first, last] = [this.#shown[0], this.#shown.at(-1)];
    if (!last) return;
    const leader = ({ release }) => (release.heavy.length ? cut(printable(release.heavy[0].key), 48) : "no key");
    const [from, to] = [mark(first.release.window.to), mark(last.release.window.to)];
    const course = first === last ? "One list so far: lines begin with the second." : `From the list up to ${from} to the one up to ${to}.`;
    this.#words.textContent = `${course} A gap: not listed then, or below rank ${DEEPEST}. Keys whose intervals overlap may stand in either order.`;
    this.#desc.textContent = `${this.#shown.length} lists and ${this.#series.size} keys. First in rank was ${leader(first)} up to ${from}, and ${leader(last)} up to ${to}. The table below has all ranks and counts.`;
    if (this.#details.open) this.#table.replaceChildren(table(this.#shown, [...this.#series.keys()]));
  }
}

const gutter = (width) => (width < 480 ? 134 : 164);

/** Some of the lists, evenly apart, and always the latest: the others stay where they are while it moves. */
function pick(lists, room) {
  const columns = Math.max(2, Math.min(LOOKS, room));
  const stride = STRIDES.find((stride) => lists.length / stride <= columns - 1) ?? STRIDES.at(-1);
  const latest = lists.at(-1);
  return lists.filter(({ number }) => number % stride === 0 || number === latest.number).slice(-columns);
}

const rankIn = (list, key) => {
  const rank = 1 + list.release.heavy.findIndex((heavy) => heavy.key === key);
  return rank > 0 && rank <= DEEPEST ? rank : null;
};

/** The keys that have a line, those that are highest in the latest list first. */
function lines(columns) {
  const keys = [...columns].reverse().flatMap(({ release }) => release.heavy.slice(0, TOP).map(({ key }) => key));
  return [...new Set(keys)];
}

/** Where things are. */
class Frame {
  constructor(width, columns, keys) {
    this.columns = columns;
    this.letters = Math.floor((gutter(width) - 2 * DOT - 14) / LETTER);
    this.step = Math.min(110, (width - gutter(width)) / Math.max(1, columns.length - 1));
    this.left = DOT + 3;
    const ranks = columns.flatMap((list) => keys.map((key) => rankIn(list, key) ?? 1));
    this.lanes = Math.max(1, ...ranks);
    this.height = HEAD + LANE * this.lanes;
  }

  x(column) {
    return this.left + this.step * column;
  }

  y(rank) {
    return HEAD + LANE * (rank - 0.5);
  }
}

/** The ends of the windows, as many as there is room for. */
function axis(frame) {
  const marks = frame.columns.map(({ release }) => mark(release.window.to));
  const every = Math.ceil(((Math.max(...marks.map((text) => text.length)) + 2) * LETTER) / frame.step);
  const last = marks.length - 1;
  return marks.flatMap((text, column) => {
    const x = frame.x(column);
    const line = draw("line", { x1: x, x2: x, y1: HEAD - 6, y2: frame.height });
    const shown = (last - column) % every === 0 && x > 26;
    return shown ? [line, draw("text", { x, y: 14 }, text)] : [line];
  });
}

/** The line of a key, whose dots glide when the latest list comes. */
class Series {
  group;
  #key;
  #path = draw("path");
  #dots = new Map();
  #name = draw("text", { class: "name" });

  constructor(key, svg) {
    this.#key = key;
    this.group = draw("g", { class: "series" }, draw("title", {}, printable(key)), this.#path, this.#name);
    svg.append(this.group);
  }

  draw(frame, colour) {
    this.group.setAttribute("class", `series c${colour}`);
    const ranks = frame.columns.map((list) => rankIn(list, this.#key));
    this.#path.setAttribute("d", curve(frame, ranks));
    const last = ranks.length - 1;
    const seen = new Set(frame.columns.map(({ number }, column) => (column === last ? "latest" : number)));
    for (const [id, dot] of this.#dots) if (!seen.has(id)) this.#drop(id, dot);
    [...seen].forEach((id, column) => this.#dot(id, frame, column, ranks[column]));
    this.#label(frame, ranks);
  }

  #drop(id, dot) {
    dot.remove();
    this.#dots.delete(id);
  }

  #dot(id, frame, column, rank) {
    const known = this.#dots.get(id);
    if (rank === null) return known && this.#drop(id, known);
    const dot = known ?? draw("g", { class: "dot" }, draw("circle", { r: DOT }), draw("text", { class: "rank", y: 4 }));
    dot.lastChild.textContent = rank;
    dot.style.transform = `translate(${frame.x(column)}px, ${frame.y(rank)}px)`;
    if (!known) this.group.insertBefore(dot, this.#name);
    this.#dots.set(id, dot);
  }

  /** Beside the last dot, or above it where others follow. */
  #label(frame, ranks) {
    const column = ranks.findLastIndex((rank) => rank !== null);
    const beside = column === ranks.length - 1;
    this.#name.textContent = cut(printable(this.#key), beside ? frame.letters : 14);
    this.#name.setAttribute("class", beside ? "name" : "name above");
    const [x, y] = beside ? [DOT + 7, 4.5] : [0, -DOT - 2];
    const left = beside ? 0 : Math.max(0, 44 - frame.x(column));
    this.#name.style.transform = `translate(${frame.x(column) + x + left}px, ${frame.y(ranks[column]) + y}px)`;
  }
}

function curve(frame, ranks) {
  let path = "";
  ranks.forEach((rank, column) => {
    if (rank === null) return;
    const [x, y] = [frame.x(column), frame.y(rank)];
    const before = ranks[column - 1];
    const middle = x - frame.step / 2;
    path += before ? `C${middle},${frame.y(before)} ${middle},${y} ${x},${y}` : `M${x},${y}`;
  });
  return path;
}

function table(columns, keys) {
  const heads = columns.map(({ release }) => make("th", { scope: "col" }, mark(release.window.to)));
  const cell = (list, key) => {
    const rank = list.release.heavy.findIndex((heavy) => heavy.key === key);
    if (rank < 0) return make("td", { class: "small" }, "not listed");
    const count = grouped(list.release.heavy[rank].count);
    return make("td", {}, make("b", {}, rank + 1), " ", make("span", { class: "small" }, count));
  };
  const row = (key) =>
    make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, cut(printable(key), 24))), ...columns.map((list) => cell(list, key)));
  return make(
    "table",
    {},
    make("caption", {}, "Rank, and the noisy count, of each key in each list"),
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Key"), ...heads)),
    make("tbody", {}, ...keys.map(row)),
  );
}
