// Numbers and times as text.

const MONTHS = "January February March April May June July August September October November December".split(" ");

/** A whole number with separators of thousands. */
export const grouped = (number) => Math.round(number).toLocaleString("en-US");

/** A number with a noun. */
export const many = (number, one, more = `${one}s`) => (number === 1 ? `1 ${one}` : `${grouped(number)} ${more}`);

/** A small number with four digits. */
export function small(number) {
  if (number === 0) return "0";
  return number < 1e-4 ? number.toExponential() : String(Number(number.toPrecision(4)));
}

/** A fraction in percent, with two digits. */
export const percent = (share) => `${Number((100 * share).toPrecision(2))} %`;

const two = (number) => String(number).padStart(2, "0");

const hasSeconds = (moment) => new Date(moment).getUTCSeconds() !== 0;

/** The time of day, with seconds if they are not zero. */
export function clock(moment, exact = hasSeconds(moment)) {
  const at = new Date(moment);
  const seconds = exact ? `:${two(at.getUTCSeconds())}` : "";
  return `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}${seconds}`;
}

/** The date. */
export function day(moment) {
  const at = new Date(moment);
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]} ${at.getUTCFullYear()}`;
}

/** The event number of a window end, at least 0; null if the end is a time. */
function ordinal(end) {
  const digits = String(end).match(/^(?:event )?(-?\d+)$/);
  return digits && Math.max(0, Number(digits[1]));
}

/** A window end as a number that grows with time; null if there is none. */
export function position(end) {
  const place = ordinal(end) ?? Date.parse(end);
  return Number.isFinite(place) ? place : null;
}

/** True if a window end is a time, and not an event number. */
export const isMoment = (end) => position(end) !== null && ordinal(end) === null;

/** A window end as text: a time, or an event number. */
export function edge(end) {
  if (position(end) === null) return "no event yet";
  return isMoment(end) ? `${day(end)}, ${clock(end)}` : `event ${grouped(ordinal(end))}`;
}

const isMidnight = (end) => position(end) % 86_400_000 === 0;

/** Several window ends, as short as possible beside each other. */
export function marks(ends) {
  const moments = ends.filter(isMoment);
  const [days, exact] = [new Set(moments.map(day)), moments.some(hasSeconds)];
  const date = (end) => (days.size > 1 ? `${day(end).replace(/(\d+ \w{3}).*/, "$1")}, ` : "");
  const moment = (end) => (moments.every(isMidnight) ? end.slice(0, 10) : date(end) + clock(end, exact));
  return ends.map((end) => (isMoment(end) ? moment(end) : position(end) === null ? "none" : grouped(ordinal(end))));
}

export const mark = (end) => marks([end])[0];

/** An age as text. */
export function age(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000));
  if (seconds < 120) return many(seconds, "second");
  if (seconds < 7_200) return many(Math.floor(seconds / 60), "minute");
  return seconds < 172_800 ? many(Math.floor(seconds / 3_600), "hour") : many(Math.floor(seconds / 86_400), "day");
}

/** The period between two window ends. */
export function period(from, to) {
  if (!isMoment(from)) return `${edge(from)} up to ${mark(to)}`;
  const exact = [from, to].some(hasSeconds);
  const until = day(from) === day(to) ? "" : `${day(to)}, `;
  return `${day(from)}, ${clock(from, exact)} up to ${until}${clock(to, exact)} (UTC)`;
}

const UNITS = { s: "second", m: "minute", h: "hour", d: "day", w: "week" };

/** A span such as 1m30s in words; a plain number counts events. */
export function span(text) {
  if (/^\d+$/.test(text)) return many(Number(text), "event");
  const parts = [...String(text).matchAll(/(\d+)([smhdw])/g)];
  return parts.length ? parts.map(([, number, unit]) => many(Number(number), UNITS[unit])).join(" ") : String(text);
}

/** The factor by which the probability of an outcome may change, rounded up. */
export function likelier(epsilon) {
  const factor = Math.exp(epsilon);
  return factor < 100 ? `${Math.ceil(factor * 10) / 10} times` : `${grouped(Math.ceil(factor))} times`;
}

/** Explains a stream whose state cannot be opened or written. */
export const FAILED = {
  what: "The state of this stream cannot be opened or written, so it takes no events and releases nothing.",
  then: "For the operator: the log of the service has the cause. If it is the disk, its space or its permissions, correct that and start the service again; nothing is lost. Only if the log says that the state is damaged, restore a copy with the command frostpane-server restore, which marks the past of the stream as spent.",
};
