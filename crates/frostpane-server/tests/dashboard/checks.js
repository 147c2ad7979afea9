// What a page shows, as its test asks for it.

const number = (text) => Number(text.replace(/[^\d]/g, ""));
const unseen = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
const printable = (key) => key.replace(unseen, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);

/** The list that is shown, by its number. */
const shown = () => number(document.getElementById("state").textContent.match(/list [\d,]+/)?.[0] ?? "0");

/** What is wrong with the list that is shown, compared with the release as the service has it. */
async function faultsOfList(stream) {
  const all = await (await fetch(`/v1/streams/${stream}/releases?after=${shown() - 1}&most=1`)).json();
  const { heavy } = all.releases[0].release;
  const rows = [...document.querySelectorAll(".list tbody tr")];
  const faults = rows.length === heavy.length ? [] : [`${rows.length} rows for ${heavy.length} keys`];
  const most = Math.max(...heavy.map(({ high }) => high));
  heavy.forEach(({ key, count, low, high }, index) => {
    const cell = (name) => rows[index].querySelector(name);
    const name = cell("bdi").title || cell("bdi").textContent;
    const wide = cell("svg").getBoundingClientRect().width;
    const [fill, between] = [".fill", ".whisker rect"].map((part) => cell(part).getBBox());
    const expect = (what, is, wanted, within = 0) => Math.abs(is - wanted) <= within || faults.push(`${what} of ${key}: ${is} and not ${wanted}`);
    if (name !== printable(key)) faults.push(`${name} and not ${key}`);
    expect("rank", number(cell(".rank").textContent), index + 1);
    expect("count", number(cell(".count").textContent), count);
    expect("bar", (fill.width / wide) * most, count, most / 200);
    expect("whisker", (between.x / wide) * most, low, most / 200);
    expect("its end", ((between.x + between.width) / wide) * most, high, most / 200);
    if (cell(".interval").textContent !== `${low.toLocaleString("en-US")} to ${high.toLocaleString("en-US")}`) faults.push(`interval of ${key}`);
  });
  const lines = [...document.querySelectorAll(".series")].map((series) => [series.querySelector("title").textContent, number([...series.querySelectorAll(".dot")].at(-1).textContent)]);
  heavy.slice(0, 10).forEach(({ key }, index) => lines.some(([name, rank]) => name === printable(key) && rank === index + 1) || faults.push(`no line of ${key} at ${index + 1}`));
  return faults;
}

/** What can be done here, and is not hidden. */
function controls() {
  const all = [...document.querySelectorAll("a[href], button, input, summary, [tabindex='0']")];
  const seen = all.filter((one) => one.checkVisibility() && !one.disabled && !one.matches("[type=radio]:not(:checked)"));
  return seen.map((one, index) => (one.dataset.tour ??= String(index)) && one);
}

/** The one that has the focus, if it can be seen that it has. */
function focused() {
  const one = document.activeElement;
  const style = getComputedStyle(one);
  const ringed = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
  return { tour: one.dataset.tour ?? null, ringed, what: one.outerHTML.slice(0, 120) };
}

/** What keeps people out. */
async function barriers() {
  const run = await axe.run(document, { runOnly: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] } });
  return run.violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html, any }) => `${html.slice(0, 160)} ${any[0]?.message ?? ""}`).join("; ")}`);
}
