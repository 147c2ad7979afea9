// The order of keys that their intervals imply: keys whose intervals overlap are tied.

/** The most keys whose order is remembered. */
const KEPT = 40;

/** The number of sorted numbers below a limit. */
function below(sorted, limit) {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (sorted[middle] < limit) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** The best and the worst rank that each listed key may have. */
export function ranges(heavy) {
  const sorted = (numbers) => numbers.sort((a, b) => a - b);
  const [lows, highs] = [sorted(heavy.map(({ low }) => low)), sorted(heavy.map(({ high }) => high))];
  const range = ({ low, high }) => [1 + lows.length - below(lows, high + 1), highs.length - below(highs, low)];
  return new Map(heavy.map((one) => [one.key, range(one)]));
}

/** A range of ranks as text. */
export const rankText = ([best, worst]) => (best === worst ? String(best) : `${best}–${worst}`);

/** True if two intervals overlap. */
export const tied = (one, other) => one.low <= other.high && other.low <= one.high;

/** The last order, changed only where disjoint intervals contradict it; new keys come as low as theirs allow. */
export function settle(before, heavy) {
  const places = new Map(before.map((key, place) => [key, place]));
  const place = ({ key }) => places.get(key) ?? before.length;
  const rest = [...heavy].sort((a, b) => place(a) - place(b));
  const order = [];
  while (rest.length && order.length < KEPT) {
    const least = rest.reduce((most, { low }) => Math.max(most, low), 0);
    order.push(...rest.splice(rest.findIndex(({ high }) => high >= least), 1));
  }
  return order.map(({ key }) => key);
}
