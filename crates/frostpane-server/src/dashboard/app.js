// The page of lists: one stream, its latest list, and how it came about.

import { after, get, keep, listen, token } from "./api.js";
import { Budget } from "./budget.js";
import { at, complain, make, say, toggle } from "./dom.js";
import { Holds } from "./holds.js";
import { List } from "./list.js";
import { HELD, Ranks } from "./ranks.js";
import { cut, grouped, many, period, printable, span } from "./words.js";

/** Whoever listens instead of looking is told of the first keys no more often than this. */
const TOLD = 30_000;

async function begin() {
  const { demo, streams } = await get("/v1/streams");
  at("made-up").hidden = !demo;
  const asked = new URLSearchParams(location.search).get("stream");
  const stream = streams.find(({ name }) => name === asked) ?? streams[0];
  at("streams").replaceChildren(...streams.map((one) => choice(one, one === stream)));
  if (!stream) {
    say(at("covered"), "There is no stream that anyone may read. PUT /v1/streams/NAME?public=true begins one, with a token; and with a token, given on the operator's page, there may be others.");
    return;
  }
  document.title = `${stream.name}: Frostpane`;
  say(at("name"), stream.name);
  say(at("asked"), about(stream));
  const view = new View(stream);
  await view.recall();
  await listen(stream.name, view.last, { heard: (list) => view.hear(list), told: (problem) => view.told(problem) });
}

function choice({ name, people }, current) {
  const link = make("a", { href: `?stream=${encodeURIComponent(name)}`, "aria-current": current ? "true" : null }, name);
  return make("li", {}, link, make("span", { class: "small" }, people ? " people" : " events"));
}

/** What the stream is asked for. */
function about({ spec, continual, people, slide_seconds: slide }) {
  const which = spec.top ? `The ${many(spec.top, "key")} with the highest counts` : spec.all ? "All keys that can be shown" : `Keys from alpha ${spec.alpha} on`;
  const window = span([spec.window].flat().at(-1)).replace(/^1 /, "");
  const slides = slide ? `every ${span(spec.slide ?? `${slide}s`).replace(/^1 /, "")}` : "at every slide";
  const often = continual ? `a new list ${slides}` : "a list when it is asked for";
  return `${which} of the last ${window}, ${often}. Protected: ${people ? "people" : "single events"}.`;
}

/** Everything that is shown of a stream. */
class View {
  /** The number of the latest list. */
  last = 0;
  #stream;
  #latest = null;
  #shown = 0;
  #waiting = 0;
  #announced = { at: 0, text: "" };
  #list = new List(at("list"), (key) => this.#follow(key));
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
    at("columns").hidden = false;
    at("live").hidden = false;
  }

  /** Has the lists of the past. */
  async recall() {
    this.last = Math.max(0, this.#stream.releases - HELD);
    for (let next = this.last; next !== null; ) {
      const page = await get(after(this.#stream.name, next));
      for (const list of page.releases) {
        this.#ranks.add(list);
        [this.last, this.#latest] = [list.number, list];
      }
      next = page.next;
    }
    if (this.#latest) this.#show();
    else this.#nothing();
  }

  /** One more list. */
  hear(list) {
    if (list.number <= this.last) return;
    [this.last, this.#latest] = [list.number, list];
    this.#ranks.add(list);
    if (this.#paused()) this.#waiting += 1;
    else this.#show();
    this.#state();
  }

  /** That the connection was lost, or is there. */
  told(problem) {
    this.#problem = problem;
    this.#state();
  }

  #nothing() {
    say(at("covered"), "Nothing has been released yet.");
    at("list").replaceChildren(make("p", { class: "empty" }, this.#stream.continual ? "The first list comes when the first slide has ended." : `A list is made when it is asked for: PUT /v1/streams/${this.#stream.name}/releases/ID, with a token.`));
    this.#budget.show(0, null);
    at("columns").classList.add("nothing");
  }

  #show() {
    const list = this.#latest;
    if (at("columns").classList.contains("nothing")) {
      at("columns").classList.remove("nothing");
      this.#list = new List(at("list"), (key) => this.#follow(key));
    }
    [this.#shown, this.#waiting] = [list.number, 0];
    say(at("covered"), covered(list.release));
    this.#ranks.draw(list.number);
    this.#list.show(list.release, this.#ranks.colour);
    this.#list.follow(this.#followed);
    this.#holds.show(list);
    this.#budget.show(list.number, list.release);
    this.#announce(list);
  }

  #follow(key) {
    this.#followed = key;
    this.#list.follow(key);
    this.#ranks.follow(key);
  }

  #state() {
    const element = at("state");
    element.className = this.#problem ? "lost" : this.#paused() ? "paused" : "on";
    if (this.#problem) say(element, `Not live: ${this.#problem.message}`);
    else if (this.#paused()) say(element, `Paused at list ${grouped(this.#shown)}${this.#waiting ? `, ${grouped(this.#waiting)} newer` : ""}`);
    else say(element, this.#shown ? `Live, list ${grouped(this.#shown)}` : "Live");
  }

  #announce({ number, release }) {
    const first = release.heavy.slice(0, 3).map(({ key }) => cut(printable(key), 48));
    const text = first.length ? `First are ${first.join(", ")}.` : "Nothing is listed.";
    if (Date.now() - this.#announced.at < TOLD || text === this.#announced.text) return;
    this.#announced = { at: Date.now(), text };
    say(at("told"), `List ${number}. ${text}`);
  }
}

/** Which events a list is of. */
function covered({ window, heavy, bounds }) {
  const { events, between, from, to } = window;
  const number = between ? `about ${grouped(events)} contributions (${grouped(between[0])} to ${grouped(between[1])})` : many(events, "event");
  const when = from === null || to === null ? "" : `, ${period(from, to)}`;
  return `${number[0].toUpperCase()}${number.slice(1)}${when}${heavy.length || bounds ? "" : ": nothing is listed"}`;
}

try {
  await begin();
} catch (problem) {
  if (problem.status === 401 && token()) {
    // It was revoked: what is public needs none.
    keep(null);
    location.reload();
  }
  complain(at("problem"), problem);
  say(at("covered"), "");
}
