// Numbers, moments and keys as people read them.

const UNSEEN = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
const MONTHS = "January February March April May June July August September October November December".split(" ");

/** A whole number with its thousands set apart. */
export const grouped = (number) => Math.round(number).toLocaleString("en-US");

/** So many of something. */
export const many = (number, one, more = `${one}s`) => (number === 1 ? `1 ${one}` : `${grouped(number)} ${more}`);

/** A small number as it is written. */
export function small(number) {
  if (number === 0) return "0";
  return number < 1e-4 ? number.toExponential().replace("e-", "e-") : String(Number(number.toPrecision(4)));
}

/** A share in percent, to two digits. */
export const percent = (share) => `${Number((100 * share).toPrecision(2))} %`;

/** A key: what cannot be seen is written out. */
export const printable = (key) =>
  String(key).replace(UNSEEN, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);

/** Its beginning, if it is long. */
export function cut(text, columns) {
  const letters = [...text];
  return letters.length > columns ? `${letters.slice(0, columns - 1).join("")}…` : text;
}

const two = (number) => String(number).padStart(2, "0");

/** The time of day; seconds where they matter. */
export function clock(moment) {
  const at = new Date(moment);
  const seconds = at.getUTCSeconds() ? `:${two(at.getUTCSeconds())}` : "";
  return `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}${seconds}`;
}

/** The day. */
export function day(moment) {
  const at = new Date(moment);
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]} ${at.getUTCFullYear()}`;
}

/** The number of an event that an end of a window is, if it is one; none is before the first. */
function ordinal(end) {
  const digits = String(end).match(/^(?:event )?(-?\d+)$/);
  return digits && Math.max(0, Number(digits[1]));
}

/** An end of a window: a moment, or the number of an event. */
export function edge(end) {
  const number = ordinal(end);
  return number === null ? `${day(end)}, ${clock(end)}` : `event ${grouped(number)}`;
}

/** Whether it is a moment. */
export const isMoment = (end) => ordinal(end) === null;

/** The same as short as it can be, beside others. */
export function mark(end) {
  const number = ordinal(end);
  if (number !== null) return grouped(number);
  const midnight = new Date(end).getTime() % 86_400_000 === 0;
  return midnight ? end.slice(0, 10) : clock(end);
}

/** From one end up to another. */
export function period(from, to) {
  const [a, b] = [edge(from), edge(to)];
  if (a.startsWith("event")) return `${a} up to ${mark(to)}`;
  return day(from) === day(to) ? `${day(from)}, ${clock(from)} up to ${clock(to)} (UTC)` : `${a} up to ${b} (UTC)`;
}

const UNITS = { s: "second", m: "minute", h: "hour", d: "day", w: "week" };

/** A span such as 1m30s in words; a number is of events. */
export function span(text) {
  if (/^\d+$/.test(text)) return many(Number(text), "event");
  const parts = [...String(text).matchAll(/(\d+)([smhdw])/g)];
  return parts.length ? parts.map(([, number, unit]) => many(Number(number), UNITS[unit])).join(" ") : String(text);
}

/** How much likelier an outcome may become, rounded up. */
export function likelier(epsilon) {
  const factor = Math.exp(epsilon);
  return factor < 100 ? `${Math.ceil(factor * 10) / 10} times` : `${grouped(Math.ceil(factor))} times`;
}
