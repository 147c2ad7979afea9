// Health and ingest of every stream, for the operator.

import { get, keep, of, token } from "./api.js";
import { at, draw, make, say, toggle } from "./dom.js";
import { FAILED, age, grouped, many } from "./words.js";

/** Milliseconds between two updates. */
const EVERY = 2_000;
/** The number of updates in the chart of events. */
const LOOKS = 60;
const STANDINGS = { ready: "ready", failed: "failed", clock: "paused: the clock of this machine is not plausible", waiting: "waiting: restored from a copy, continues when the clock has reached its own", stopped: "stopped", source: "not connected to its source", catching_up: "catching up with the clock after a pause", hung: "waiting for its disk, which does not answer" };
const FULL = "Or the users of an epoch did not fit into the memory of the stream: begin another with more memory, or a sample of the users.";

/** The time of the last update. */
let fresh = null;

/** The latest updates of each stream. */
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
    say(at("said"), "No token. Without one this page shows only what is public.");
    at("health").classList.remove("stale");
    at("health").replaceChildren(make("p", { class: "empty" }, "Numbers of events and delays are shown with a token of the scope admin."));
    return;
  }
  try {
    const { streams, failed = [] } = await get("/v1/streams");
    const all = await Promise.all(streams.map(health));
    const may = all.filter(({ problem }) => !problem).length;
    say(at("said"), may + failed.length ? `The token is for ${many(may + failed.length, "stream")}.` : "The token is valid, but it does not have the scope admin.");
    at("health").replaceChildren(make("div", { class: "cards" }, ...failed.map(broken), ...all.map(card)));
    at("health").classList.remove("stale");
    fresh = Date.now();
  } catch (problem) {
    if (problem.status === 401) {
      keep(null);
      at("forget").hidden = true;
      say(at("said"), "This token is not valid and was removed.");
      at("health").replaceChildren();
    } else {
      at("health").classList.add("stale");
      say(at("said"), `Not up to date: ${problem.message}. This page keeps trying.`);
      if (fresh) say(at("ready"), `What is below is ${age(Date.now() - fresh)} old.`);
    }
  }
}

async function ready() {
  const well = await fetch("/readyz", { cache: "no-store" }).then((response) => response.ok, () => null);
  say(at("ready"), well === null ? "The service does not answer." : well ? "The service is ready." : "The service is not ready.");
}

async function health(stream) {
  try {
    const health = await get(of(stream.name, "/health"));
    const looks = seen.get(stream.name) ?? [];
    looks.push({ at: performance.now(), events: health.ingest?.events ?? 0 });
    seen.set(stream.name, looks.slice(-LOOKS));
    return { stream, health };
  } catch (problem) {
    if (problem.status === 0 || problem.status === 401) throw problem;
    return { stream, problem };
  }
}

function card({ stream, health, problem }) {
  const title = make("h3", {}, stream.name);
  if (problem?.status === 403) return make("article", { class: "card" }, title, make("p", { class: "small" }, "The token is not for this stream."));
  if (problem) return make("article", { class: "card failed" }, title, make("p", {}, `${problem.message}: ${problem.then ?? ""}`));
  const facts = [
    ["State", STANDINGS[health.standing] ?? health.standing],
    ["Clock (UTC)", stream.slide_seconds ? clock(health.clock) : "by events"],
    ["Readers", stream.public ? "public" : "with a token"],
    ["Lists", grouped(stream.releases)],
    ...(health.ingest ? ingest(health, rates(stream.name)) : []),
  ];
  const rows = facts.map(([term, fact]) => make("div", {}, make("dt", {}, term), make("dd", {}, fact)));
  const traffic = health.ingest ? line(rates(stream.name)) : make("p", { class: "small" }, "Numbers of events are not shown: they are not protected, and would tell what users do.");
  const advice = health.standing === "failed" ? [FAILED.what, FAILED.then, ...(stream.people ? [FULL] : [])] : [];
  return make("article", { class: `card ${health.standing}` }, title, ...advice.map((text) => make("p", {}, text)), make("dl", {}, ...rows), traffic);
}

/** The card of a stream that could not be opened. */
const broken = (name) => make("article", { class: "card failed" }, make("h3", {}, name), make("p", {}, make("b", {}, "Failed. "), FAILED.what), make("p", {}, FAILED.then));

/** The clock of a stream; without events it has none. */
const clock = (moment) => (!moment || moment < "1971" ? "no events yet" : moment.slice(0, 19).replace("T", " "));

function ingest({ ingest, room_bytes: room }, rates) {
  return [
    ["Events since start", grouped(ingest.events)],
    ["Events a second", rates.length ? grouped(rates.at(-1)) : "…"],
    ["Late, not counted", grouped(ingest.late)],
    ["Mean transaction", `${ingest.commit_milliseconds.toFixed(1)} ms`],
    ["Queue", `${(ingest.waiting_bytes / 2 ** 20).toFixed(1)} of ${grouped(room / 2 ** 20)} MiB`],
    ["Refused as overloaded", grouped(ingest.overloads)],
  ];
}

/** Events a second between consecutive updates. */
function rates(name) {
  const looks = seen.get(name) ?? [];
  return looks.slice(1).map((look, index) => (1_000 * (look.events - looks[index].events)) / (look.at - looks[index].at));
}

/** Draws rates as a line. */
function line(rates) {
  const most = Math.max(1, ...rates);
  const points = rates.map((rate, index) => `${(100 * (index + LOOKS - 1 - rates.length)) / (LOOKS - 2)},${38 - (36 * rate) / most}`);
  const svg = draw("svg", { class: "spark", viewBox: "0 0 100 40", preserveAspectRatio: "none", height: 40, width: "100%" }, draw("polyline", { points: points.join(" ") }));
  return make("div", { class: "came", "aria-hidden": "true" }, svg);
}

await look();
setInterval(() => paused() || document.hidden || look(), EVERY);
