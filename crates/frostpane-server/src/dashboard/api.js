// Requests to the service.

const TOKEN = "frostpane-token";
/** Milliseconds until a reconnect. */
const AGAIN = 2_000;
/** The service sends a heartbeat every 15 seconds: after so long without one the connection is lost. */
const SILENT = 45_000;
const GONE = { error: "the service does not answer", do: "this page keeps trying" };
/** Milliseconds by which the clock of the service is ahead of this one. */
let ahead = 0;

/** The time of the service. */
export const now = () => Date.now() + ahead;

/** The token of this tab, or null. */
export const token = () => sessionStorage.getItem(TOKEN);

/** Stores a token for as long as the tab is open; null deletes it. */
export function keep(text) {
  if (text) sessionStorage.setItem(TOKEN, text);
  else sessionStorage.removeItem(TOKEN);
}

/** A failed request: the error, and the remedy. */
export class Problem extends Error {
  constructor(status, { error, do: then }) {
    super(error);
    this.status = status;
    this.then = then;
  }
}

/** Sends a request and returns the response. */
async function ask(path, options = {}) {
  const headers = { ...options.headers };
  if (token()) headers.Authorization = `Bearer ${token()}`;
  let response;
  try {
    response = await fetch(path, { ...options, headers, credentials: "omit", cache: "no-cache" });
  } catch (cause) {
    if (options.signal?.aborted) throw cause;
    throw new Problem(0, GONE);
  }
  const date = Date.parse(response.headers.get("Date"));
  if (date) ahead = date - Date.now();
  if (response.ok) return response;
  const said = await response.json().catch(() => ({ error: `the service answered ${response.status}` }));
  throw new Problem(response.status, said);
}

/** Gets JSON. */
export const get = async (path, options) => (await ask(path, options)).json();

/** Posts JSON and returns the JSON of the response. */
export const post = (path, body, options) =>
  get(path, { ...options, method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });

/** The path of a resource of a stream. */
export const of = (name, what = "") => `/v1/streams/${encodeURIComponent(name)}${what}`;

/** Fails if a promise takes too long. */
function withinTime(promise, time) {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Problem(0, GONE)), time);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Parses server-sent events. */
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const read = reader.read().catch(() => Promise.reject(new Problem(0, GONE)));
      const { done, value } = await withinTime(read, SILENT);
      if (done) return;
      const whole = (rest + value).split("\n\n");
      rest = whole.pop();
      for (const text of whole) {
        const lines = text.split("\n").map((line) => line.match(/^(\w+): (.*)$/s)).filter(Boolean);
        yield Object.fromEntries(lines.map(([, name, value]) => [name, value]));
      }
    }
  } finally {
    reader.cancel().catch(() => null);
  }
}

export const rest = (time) => new Promise((done) => setTimeout(done, time));

/** Retries while the service does not answer or is busy. */
export async function persist(act, failed) {
  for (;;) {
    try {
      return await act();
    } catch (problem) {
      if (!(problem.status === 0 || problem.status === 429 || problem.status >= 500)) throw problem;
      failed(problem);
      await rest(AGAIN);
    }
  }
}

/** The path of a page of releases after a number. */
export const after = (name, number) => of(name, `/releases?after=${number}`);

/** Receives every release of a stream after a number; reconnects, and polls while there are too many listeners. */
export async function listen(name, last, { heard, told }) {
  const hear = (list) => {
    last = list.number;
    heard(list);
  };
  for (;;) {
    try {
      const headers = last ? { "Last-Event-ID": String(last) } : {};
      const { body } = await ask(of(name, "/live"), { headers });
      told(null);
      for await (const { event, id, data } of events(body)) {
        if (event === "release") hear({ number: Number(id), release: JSON.parse(data) });
      }
      told(new Problem(0, GONE));
    } catch (problem) {
      const full = problem.status === 429;
      told(problem);
      if (full) (await get(after(name, last)).catch(() => ({ releases: [] }))).releases.forEach(hear);
    }
    await rest(AGAIN);
  }
}
