// The page of lists: the latest list of a stream, and its past.

import { after, get, keep, listen, now, of, persist, token } from "./api.js";
import { Budget } from "./budget.js";
import { at, complain, make, say, toggle } from "./dom.js";
import { Holds } from "./holds.js";
import { Names } from "./keys.js";
import { List } from "./list.js";
import { HELD, Ranks } from "./ranks.js";
import { FAILED, age, edge, grouped, isMoment, many, period, position, span } from "./words.js";

/** Milliseconds between two announcements of the first keys to a screen reader. */
const ANNOUNCED = 30_000;
/** Milliseconds after which a list is overdue. */
const LATE = 15_000;
/** Milliseconds from which on the age of a list is shown. */
const OLD = 60_000;

const trouble = (problem) => complain(at("problem"), problem);

async function begin() {
  const { demo, streams, failed = [] } = await persist(() => get("/v1/streams"), trouble);
  trouble(null);
  at("made-up").hidden = !demo;
  const asked = new URLSearchParams(location.search).get("stream");
  const stream = asked ? streams.find(({ name }) => name === asked) : streams[0];
  at("streams").replaceChildren(...streams.map((one) => choice(one.name, one.people ? "users" : "events", one === stream)), ...failed.map((name) => choice(name, "failed", name === asked)));
  if (!stream) return instead(asked, streams, failed);
  document.title = `${stream.name}: Frostpane`;
  say(at("name"), stream.name);
  say(at("asked"), about(stream));
  const view = new View(stream);
  await persist(() => view.recall(), trouble);
  trouble(null);
  view.show();
  await listen(stream.name, view.last, { heard: (list) => view.hear(list), told: (problem) => view.told(problem) });
}

function choice(name, kind, current) {
  const link = make("a", { href: `?stream=${encodeURIComponent(name)}`, "aria-current": current ? "true" : null }, name);
  return make("li", { class: kind === "failed" ? "failed" : null }, link, make("span", { class: "small" }, ` ${kind}`));
}

/** Explains why no stream can be shown. */
function instead(asked, streams, failed) {
  const paragraphs = failed.includes(asked) ? [FAILED.what, FAILED.then] : asked ? unknown(asked, streams) : none(failed);
  document.title = `${failed.includes(asked) ? "Failed stream" : asked ? "Unknown stream" : "Lists"}: Frostpane`;
  say(at("name"), asked ? new Names([asked]).text(asked, 64) : "Lists");
  say(at("covered"), failed.includes(asked) ? "This stream has failed." : asked ? "There is no such stream." : "There is nothing to show.");
  const card = make("article", { class: `card ${failed.includes(asked) ? "failed" : "absent"}` }, ...paragraphs.map((text) => make("p", {}, text)));
  at("instead").replaceChildren(card);
  if (asked && streams.length) card.append(make("p", {}, "Streams that can be shown:"), make("ul", {}, ...streams.map(({ name }) => make("li", {}, make("a", { href: `?stream=${encodeURIComponent(name)}` }, name)))));
}

const unknown = (asked, streams) => ["No stream of this name can be read here. It may be misspelt, deleted, or not public: then it needs a token, which the operator page takes.", ...(streams.length ? [] : none([]))];
const none = (failed) => [failed.length ? "No stream can be shown." : "No stream is public.", "PUT /v1/streams/NAME?public=true with a token of the scope admin begins one. Streams that are not public are shown with a token, which the operator page takes."];

/** The specification in a sentence. */
function about({ spec, continual, people, slide_seconds: slide }) {
  const which = spec.top ? `The ${many(spec.top, "key")} with the highest counts` : spec.all ? "All keys that can be shown" : `Keys from alpha ${spec.alpha} on`;
  const window = span([spec.window].flat().at(-1)).replace(/^1 /, "");
  const slides = slide ? `every ${span(spec.slide ?? `${slide}s`).replace(/^1 /, "")}` : "at every slide";
  const often = continual ? `a new list ${slides}` : "a list on request";
  return `${which} of the last ${window}, ${often}. Unit of privacy: ${people ? "users" : "single events"}.`;
}

/** The view of a stream. */
class View {
  /** The number of the latest list. */
  last = 0;
  #stream;
  #latest = null;
  #heard = null;
  #shown = 0;
  #waiting = 0;
  #announced = { at: 0, text: "" };
  #list = null;
  #ranks = new Ranks(at("ranks"));
  #holds;
  #budget;
  #followed = null;
  #paused;
  #problem = null;

  constructor(stream) {
    this.#stream = stream;
    this.#holds = new Holds(at("holds"), stream.name);
    this.#budget = new Budget(at("budget"), stream);
    this.#paused = toggle(at("pause"), (paused) => {
      at("pause").textContent = paused ? "Go on" : "Pause";
      if (!paused && this.#latest) this.#show();
      this.#state();
    });
  }

  /** Loads past lists. */
  async recall() {
    this.last ||= Math.max(0, this.#stream.releases - HELD);
    for (let next = this.last; next !== null; ) {
      const page = await get(after(this.#stream.name, next));
      for (const list of page.releases) this.#add(list);
      next = page.next;
    }
  }

  /** Shows the stream for the first time. */
  show() {
    at("columns").hidden = false;
    at("live").hidden = false;
    if (this.#latest) this.#show();
    else this.#nothing();
    setInterval(() => this.#state(), 1_000);
  }

  /** Adds a list. */
  hear(list) {
    if (list.number <= this.last) return;
    this.#add(list);
    this.#heard = now();
    if (this.#paused()) this.#waiting += 1;
    else this.#show();
    this.#state();
  }

  /** Records that the connection was lost, or is back. */
  async told(problem) {
    const again = this.#problem && !problem;
    const closed = problem?.status === 401 || problem?.status === 403;
    this.#problem = closed ? { message: "this stream can no longer be read without a token", then: "the operator page takes one" } : problem;
    this.#state();
    if (!again) return;
    // A service that was restored or recreated counts from a lower number. Lists may come while it is asked.
    const { last } = this;
    const { releases } = await get(of(this.#stream.name)).catch(() => ({ releases: last }));
    if (releases < last) location.reload();
  }

  #add(list) {
    [this.last, this.#latest] = [list.number, list];
    this.#ranks.add(list);
  }

  #nothing() {
    say(at("covered"), "There are no events to show yet.");
    const { name, continual } = this.#stream;
    at("list").replaceChildren(make("p", { class: "empty" }, continual ? "The first list comes when the first slide has ended." : `A list is made on request: PUT /v1/streams/${name}/releases/ID, with a token of the scope release.`));
    this.#budget.show(0, null);
    at("columns").classList.add("nothing");
    this.#state();
  }

  #show() {
    const list = this.#latest;
    at("columns").classList.remove("nothing");
    this.#list ??= new List(at("list"), (key) => this.#follow(key));
    [this.#shown, this.#waiting] = [list.number, 0];
    say(at("covered"), covered(list.release));
    const names = new Names([...list.release.heavy.map(({ key }) => key), ...this.#ranks.keys]);
    at("trend").hidden = this.#ranks.keys.length === 0;
    this.#ranks.draw(list.number, names);
    this.#list.show(list.release, names, this.#ranks.colour);
    this.#follow(this.#followed);
    this.#holds.show(list);
    this.#budget.show(list.number, list.release);
    this.#announce(list, names);
    this.#state();
  }

  #follow(key) {
    this.#followed = key;
    this.#list.follow(key);
    this.#ranks.follow(key);
  }

  /** The age of the latest list in milliseconds; null if it is not known. */
  #age() {
    const to = this.#latest?.release.window.to;
    if (isMoment(to)) return now() - position(to);
    return this.#heard && now() - this.#heard;
  }

  /** The reason why the view may be out of date. */
  #doubt() {
    if (this.#problem && this.#problem.status !== 429) return this.#problem;
    const { continual, slide_seconds: slide } = this.#stream;
    const late = continual && slide && this.#age() > Math.max(3_000 * slide, 1_000 * slide + LATE);
    return late ? { message: `the next list is overdue: one should come every ${age(1_000 * slide)}`, then: "the operator of the service has to look at it" } : null;
  }

  #state() {
    const [element, doubt, old] = [at("state"), this.#doubt(), this.#age()];
    const aged = old !== null && this.#shown && (doubt || old > OLD) ? `, ${age(old)} old` : "";
    at("columns").classList.toggle("stale", Boolean(doubt));
    trouble(doubt);
    element.className = doubt ? "lost" : this.#paused() ? "paused" : "on";
    const list = this.#shown ? `list ${grouped(this.#shown)}${aged}` : "no list yet";
    if (doubt) say(element, `Not live, ${list}`);
    else if (this.#paused()) say(element, `Paused at ${list}${this.#waiting ? `, ${grouped(this.#waiting)} newer` : ""}`);
    else say(element, this.#shown ? `Live, ${list}` : "Connected, no list yet");
  }

  /** Tells a screen reader the first keys, in the order of the lanes, which tied keys do not change. */
  #announce({ number, order }, names) {
    const first = order.slice(0, 3).map((key) => names.text(key, 48));
    const text = first.length ? `First are ${first.join(", ")}.` : "Nothing is listed.";
    if (Date.now() - this.#announced.at < ANNOUNCED || text === this.#announced.text) return;
    this.#announced = { at: Date.now(), text };
    say(at("told"), `List ${number}. ${text}`);
  }
}

/** The window of a list in a sentence. */
function covered({ window, heavy, bounds }) {
  const { events, between, from, to } = window;
  if (!between && events === 0) return `No events${isMoment(to) ? ` in the window up to ${edge(to)} (UTC)` : " yet"}.`;
  const number = between ? `about ${grouped(events)} contributions (${grouped(between[0])} to ${grouped(between[1])})` : many(events, "event");
  const when = from === null || to === null ? "" : `, ${period(from, to)}`;
  return `${number[0].toUpperCase()}${number.slice(1)}${when}${heavy.length || bounds ? "" : ": nothing is listed"}`;
}

try {
  await begin();
} catch (problem) {
  if (problem.status === 401 && token()) {
    // The token was revoked: public streams need none.
    keep(null);
    location.reload();
  }
  trouble(problem);
  say(at("covered"), "");
}
