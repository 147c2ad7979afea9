// The order of keys as far as their intervals tell it: keys whose intervals overlap are tied.

/** So many keys have a place that is kept. */
const KEPT = 40;

/** How many of sorted numbers are below a limit. */
function below(sorted, limit) {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (sorted[middle] < limit) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** The highest and the lowest rank that each key may have among those listed. */
export function ranges(heavy) {
  const sorted = (numbers) => numbers.sort((a, b) => a - b);
  const [lows, highs] = [sorted(heavy.map(({ low }) => low)), sorted(heavy.map(({ high }) => high))];
  const range = ({ low, high }) => [1 + lows.length - below(lows, high + 1), highs.length - below(highs, low)];
  return new Map(heavy.map((one) => [one.key, range(one)]));
}

/** Such ranks as text. */
export const rankText = ([best, worst]) => (best === worst ? String(best) : `${best}–${worst}`);

/** Whether two intervals overlap. */
export const tied = (one, other) => one.low <= other.high && other.low <= one.high;

/** The order that was, changed only where disjoint intervals contradict it; new keys come as low as theirs allow. */
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
