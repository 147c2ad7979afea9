// Checks that the dashboard test runs in a page.

const number = (text) => Number(text.replace(/[^\d]/g, ""));

/** The key of a name: an escape is an invisible letter, or repeats the one before it. */
function keyOf(name) {
  let key = "";
  let before = null;
  for (const [part, code] of name.matchAll(/⟨U\+([0-9A-F]+)⟩|[^]/gu)) {
    const letter = code === undefined ? part : String.fromCodePoint(parseInt(code, 16));
    if (code === undefined || letter !== before) key += letter;
    before = code === undefined ? part : null;
  }
  return key;
}

/** The possible ranks of a key. */
function ranksOf({ low, high }, heavy) {
  const [best, worst] = [1 + heavy.filter((other) => other.low > high).length, heavy.filter((other) => other.high >= low).length];
  return best === worst ? String(best) : `${best}–${worst}`;
}

/** The number of the list that is shown. */
const shown = () => number(document.getElementById("state").textContent.match(/list [\d,]+/)?.[0] ?? "0");

/** Faults of the list, compared with the release of the service. */
async function faultsOfList(stream) {
  const all = await (await fetch(`/v1/streams/${stream}/releases?after=${shown() - 1}&most=1`)).json();
  const { heavy } = all.releases[0].release;
  const rows = [...document.querySelectorAll(".list tbody tr")];
  const faults = rows.length === heavy.length ? [] : [`${rows.length} rows for ${heavy.length} keys`];
  const most = Math.max(...heavy.map(({ high }) => high));
  heavy.forEach(({ key, count, low, high }, index) => {
    const cell = (name) => rows[index].querySelector(name);
    const name = cell("bdi").textContent.includes("…") ? cell(".points").textContent : cell("bdi").textContent;
    const wide = cell("svg").getBoundingClientRect().width;
    const [fill, between] = [".fill", ".whisker rect"].map((part) => cell(part).getBBox());
    const expect = (what, is, wanted, within = 0) => Math.abs(is - wanted) <= within || faults.push(`${what} of ${key}: ${is} and not ${wanted}`);
    if (keyOf(name) !== key) faults.push(`${name} and not ${key}`);
    if (cell(".rank").textContent !== ranksOf(heavy[index], heavy)) faults.push(`rank of ${key}: ${cell(".rank").textContent}`);
    expect("count", number(cell(".count").textContent), count);
    expect("bar", (fill.width / wide) * most, count, most / 200);
    expect("whisker", (between.x / wide) * most, low, most / 200);
    expect("its end", ((between.x + between.width) / wide) * most, high, most / 200);
    if (cell(".interval").textContent !== `${low.toLocaleString("en-US")} to ${high.toLocaleString("en-US")}`) faults.push(`interval of ${key}`);
  });
  const lines = [...document.querySelectorAll(".series")].map((series) => [keyOf(series.querySelector("title").textContent), series.querySelector(".latest .rank").textContent]);
  const sure = heavy.filter((one) => number(ranksOf(one, heavy).split("–").at(-1)) <= 10);
  sure.forEach((one) => lines.some(([key, rank]) => key === one.key && rank === ranksOf(one, heavy)) || faults.push(`no line of ${one.key}`));
  return faults;
}

/** The translation of an element. */
const placeOf = (element) => element.style.transform.match(/-?[\d.]+/g).map(Number);

/** The lines of the chart: the key, its dots from left to right, and its curve as points. */
function linesOfChart() {
  return [...document.querySelectorAll(".series")].map((series) => {
    const path = series.querySelector("path");
    const long = path.getTotalLength();
    const curve = Array.from({ length: Math.ceil(long / 4) }, (_, index) => path.getPointAtLength(4 * index)).map(({ x, y }) => [x, y]);
    const dots = [...series.querySelectorAll(".dot")].filter((dot) => dot.style.display !== "none").map(placeOf);
    return { key: keyOf(series.querySelector("title").textContent), dots: dots.sort(([a], [b]) => a - b), curve, series };
  });
}

/** Faults of the chart, compared with the releases: steps, ties, lanes, colours and names. */
async function faultsOfChart(stream) {
  const { releases } = await (await fetch(`/v1/streams/${stream}/releases`)).json();
  const columns = [...document.querySelectorAll(".axis line")].map((line) => ({ x: Number(line.getAttribute("x1")), ...releases.find(({ number }) => number === Number(line.dataset.list)) })).sort((a, b) => a.x - b.x);
  const lines = linesOfChart();
  return [...faultsOfSteps(columns), ...faultsOfTies(columns, lines), ...faultsOfLanes(columns, lines, releases), ...faultsOfColours(lines), ...faultsOfNames(lines)];
}

function faultsOfSteps(columns) {
  const [first, last] = [columns[0], columns.at(-1)];
  const time = ({ release }) => Date.parse(release.window.to);
  const wanted = (column) => first.x + ((last.x - first.x) * (time(column) - time(first))) / (time(last) - time(first));
  return columns.filter((column) => Math.abs(column.x - wanted(column)) > 1).map(({ number, x }) => `list ${number} is at ${x}`);
}

const laneIn = ({ dots }, { x }) => dots.find((dot) => Math.abs(dot[0] - x) < 0.5)?.[1] ?? null;
const ofKey = ({ release }, key) => release.heavy.find((one) => one.key === key);
const apart = (a, b) => a.low > b.high;

function faultsOfTies(columns, lines) {
  const bars = [...document.querySelectorAll("rect.tie")].map((bar) => [Number(bar.getAttribute("x")) + 5, Number(bar.getAttribute("y"))]);
  const wanted = columns.flatMap((column) => {
    const placed = lines.map((line) => [laneIn(line, column), line.key]).filter(([y]) => y !== null).sort(([a], [b]) => a - b);
    const pairs = placed.slice(1).map(([y, key], index) => [placed[index], [y, key]]).filter(([[above], [below]]) => below - above < 35);
    const tied = pairs.filter(([[, a], [, b]]) => !apart(ofKey(column, a), ofKey(column, b)) && !apart(ofKey(column, b), ofKey(column, a)));
    return tied.map(([[y]]) => [column.x, y]);
  });
  const same = ([x, y], [u, v]) => Math.abs(x - u) < 1 && Math.abs(y - v) < 1;
  const missing = wanted.filter((one) => !bars.some((bar) => same(one, bar))).map(String);
  return bars.length === wanted.length ? missing : [...missing, `${bars.length} bars for ${wanted.length} ties`];
}

/** Lanes change only where disjoint intervals contradict the order that was drawn. */
function faultsOfLanes(columns, lines, releases) {
  return columns.slice(1).flatMap((column, index) => {
    const before = columns[index];
    const both = lines.filter((line) => laneIn(line, before) !== null && laneIn(line, column) !== null);
    const pairs = both.flatMap((a) => both.map((b) => [a, b])).filter(([a, b]) => laneIn(a, before) < laneIn(b, before));
    const traded = pairs.filter(([a, b]) => laneIn(a, column) > laneIn(b, column));
    const between = releases.filter(({ number }) => number > before.number && number <= column.number);
    const shown = ([a, b]) => between.some((list) => ofKey(list, a.key) && ofKey(list, b.key) && apart(ofKey(list, b.key), ofKey(list, a.key)));
    // A key that passes a third key passes those between, too.
    const above = (one, other, when) => laneIn(one, when) < laneIn(other, when);
    const over = ([a, b]) => both.some((c) => above(c, a, before) && above(c, a, column) && shown([c, b]));
    const under = ([a, b]) => both.some((c) => above(b, c, before) && above(b, c, column) && shown([a, c]));
    const idle = traded.filter((pair) => !shown(pair) && !over(pair) && !under(pair));
    const wrong = pairs.filter(([a, b]) => laneIn(a, column) < laneIn(b, column) && apart(ofKey(column, b.key), ofKey(column, a.key)));
    const said = (what) => ([a, b]) => `${a.key} and ${b.key} ${what} in list ${column.number}`;
    return [...idle.map(said("trade lanes for nothing")), ...wrong.map(said("stand the wrong way round"))];
  });
}

/** The perceived distance of two colours (OKLab). */
function distance(...colours) {
  const [a, b] = colours.map((colour) => {
    const [r, g, b] = colour.match(/[\d.]+/g).map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    const [l, m, s] = [0.4122 * r + 0.5363 * g + 0.0514 * b, 0.2119 * r + 0.6807 * g + 0.1074 * b, 0.0883 * r + 0.2817 * g + 0.63 * b].map(Math.cbrt);
    return [0.2105 * l + 0.7936 * m - 0.0041 * s, 1.978 * l - 2.4286 * m + 0.4506 * s, 0.0259 * l + 0.7828 * m - 0.8087 * s];
  });
  return Math.hypot(...a.map((part, index) => part - b[index]));
}

function faultsOfColours(lines) {
  const coloured = lines.filter(({ series }) => !series.classList.contains("grey"));
  const colour = ({ series }) => getComputedStyle(series.querySelector("path")).stroke;
  const close = coloured.flatMap((a, index) => coloured.slice(index + 1).filter((b) => distance(colour(a), colour(b)) < 0.1).map((b) => `${a.key} and ${b.key} have the same colour`));
  return coloured.length < Math.min(10, lines.length) ? [...close, "some have no colour"] : close;
}

/** Names that overlap each other, a dot or a line, and lines without a name that the legend does not mention. */
function faultsOfNames(lines) {
  const legend = document.querySelector(".legend").textContent;
  const { left, top } = document.querySelector(".bump").getBoundingClientRect();
  const box = (element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return [x - left, y - top, x - left + width, y - top + height];
  };
  const named = lines.filter(({ series }) => series.querySelector(".name").style.display !== "none").map(({ key, series }) => ({ key, box: box(series.querySelector(".name")) }));
  const on = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] + 2 < b[3] && b[1] + 2 < a[3];
  const inside = ([x, y], [l, t, r, b]) => x > l && x < r && y > t + 2 && y < b - 2;
  const unnamed = lines.filter(({ key }) => !named.some((one) => one.key === key) && !legend.includes(key)).map(({ key }) => `${key} has no name`);
  return named.flatMap((name, index) => [
    ...named.slice(index + 1).filter((other) => on(name.box, other.box)).map((other) => `${name.key} lies on ${other.key}`),
    ...lines.filter(({ curve, dots }) => [...curve, ...dots].some((point) => inside(point, name.box))).map((line) => `${name.key} lies on the line of ${line.key}`),
  ]).concat(unnamed);
}

/** Visible controls. */
function controls() {
  const all = [...document.querySelectorAll("a[href], button, input, summary, [tabindex='0']")];
  const seen = all.filter((one) => one.checkVisibility() && !one.disabled && !one.matches("[type=radio]:not(:checked)"));
  return seen.map((one, index) => (one.dataset.tour ??= String(index)) && one);
}

/** The element with a visible focus. */
function focused() {
  const one = document.activeElement;
  const style = getComputedStyle(one);
  const ringed = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
  return { tour: one.dataset.tour ?? null, ringed, what: one.outerHTML.slice(0, 120) };
}

/** Violations of accessibility. */
async function barriers() {
  const run = await axe.run(document, { runOnly: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] } });
  return run.violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html, any }) => `${html.slice(0, 160)} ${any[0]?.message ?? ""}`).join("; ")}`);
}
