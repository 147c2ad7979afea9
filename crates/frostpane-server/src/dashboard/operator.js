// How the service is, for whoever runs it.

import { get, keep, of, token } from "./api.js";
import { at, draw, make, say, toggle } from "./dom.js";
import { grouped, many } from "./words.js";

const EVERY = 2_000;
/** So many looks make up the line of what came in. */
const LOOKS = 60;
const STANDINGS = { ready: "ready", failed: "failed: its state cannot be opened or written, or users did not fit into its memory", clock: "waits: the clock of this machine cannot be right", waiting: "waits: it was restored, and goes on when the clock has come to its own", stopped: "stopped" };

/** What was seen of each stream before. */
const seen = new Map();

const paused = toggle(at("pause"), (is) => (at("pause").textContent = is ? "Go on" : "Pause"));

at("form").addEventListener("submit", (event) => {
  event.preventDefault();
  use(at("token").value.trim());
});
at("forget").addEventListener("click", () => {
  use(null);
  at("token").focus();
});

async function use(text) {
  keep(text);
  at("token").value = "";
  seen.clear();
  await look();
}

async function look() {
  await ready();
  at("forget").hidden = !token();
  if (!token()) {
    say(at("said"), "No token is given. Without one this page shows nothing that is not public.");
    at("health").replaceChildren(make("p", { class: "empty" }, "How many events came, how late and how fast is for the operator alone."));
    return;
  }
  try {
    const { streams } = await get("/v1/streams");
    const all = await Promise.all(streams.map(health));
    const may = all.filter(({ problem }) => !problem).length;
    say(at("said"), may ? `The token may look at ${many(may, "stream")}.` : "The token is valid, but not for this page: it needs the scope admin.");
    at("health").replaceChildren(make("div", { class: "cards" }, ...all.map(card)));
  } catch (problem) {
    if (problem.status === 401) {
      keep(null);
      at("forget").hidden = true;
      say(at("said"), "This token is not valid: it was forgotten.");
      at("health").replaceChildren();
    } else say(at("said"), `${problem.message}.`);
  }
}

async function ready() {
  const well = await fetch("/readyz", { cache: "no-store" }).then((response) => response.ok, () => null);
  say(at("ready"), well === null ? "The service does not answer." : well ? "Every stream is ready." : "Not every stream is ready.");
}

async function health(stream) {
  try {
    const health = await get(of(stream.name, "/health"));
    const looks = seen.get(stream.name) ?? [];
    looks.push({ at: performance.now(), events: health.ingest?.events ?? 0 });
    seen.set(stream.name, looks.slice(-LOOKS));
    return { stream, health };
  } catch (problem) {
    if (problem.status !== 403) throw problem;
    return { stream, problem };
  }
}

function card({ stream, health, problem }) {
  const title = make("h3", {}, stream.name);
  if (problem) return make("article", { class: "card" }, title, make("p", { class: "small" }, "The token is for another stream."));
  const facts = [
    ["Standing", STANDINGS[health.standing] ?? health.standing],
    ["Clock (UTC)", health.clock ? health.clock.slice(0, 19).replace("T", " ") : "goes by events"],
    ["Readers", stream.public ? "anyone" : "with a token"],
    ["Lists", grouped(stream.releases)],
    ...(health.ingest ? ingest(health, rates(stream.name)) : []),
  ];
  const rows = facts.map(([term, fact]) => make("div", {}, make("dt", {}, term), make("dd", {}, fact)));
  const people = health.ingest ? [line(rates(stream.name))] : [make("p", { class: "small" }, "How many events come is not shown: it would tell how many people did something.")];
  return make("article", { class: `card ${health.standing}` }, title, make("dl", {}, ...rows), ...people);
}

function ingest({ ingest, room_bytes: room }, rates) {
  return [
    ["Events since the start", grouped(ingest.events)],
    ["Events a second", rates.length ? grouped(rates.at(-1)) : "in a moment"],
    ["Too late", grouped(ingest.late)],
    ["A transaction takes", `${ingest.commit_milliseconds.toFixed(1)} ms`],
    ["Waiting", `${(ingest.waiting_bytes / 2 ** 20).toFixed(1)} of ${grouped(room / 2 ** 20)} MiB`],
    ["Told to come again", grouped(ingest.overloads)],
  ];
}

/** Events a second, between every look and the next. */
function rates(name) {
  const looks = seen.get(name) ?? [];
  return looks.slice(1).map((look, index) => (1_000 * (look.events - looks[index].events)) / (look.at - looks[index].at));
}

/** The same as a line, from 0 on. */
function line(rates) {
  const most = Math.max(1, ...rates);
  const points = rates.map((rate, index) => `${(100 * (index + LOOKS - 1 - rates.length)) / (LOOKS - 2)},${38 - (36 * rate) / most}`);
  const svg = draw("svg", { class: "spark", viewBox: "0 0 100 40", preserveAspectRatio: "none", height: 40, width: "100%" }, draw("polyline", { points: points.join(" ") }));
  return make("div", { class: "came", "aria-hidden": "true" }, svg);
}

await look();
setInterval(() => paused() || document.hidden || look(), EVERY);
