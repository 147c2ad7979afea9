// What holds of a list, and what is protected, in plain words.

import { get, of } from "./api.js";
import { make } from "./dom.js";
import { likelier, small } from "./words.js";

/** The words of the latest list. */
export class Holds {
  #place;
  #name;
  #asking = false;
  #wanted = 0;

  constructor(place, name) {
    this.#place = place;
    this.#name = name;
  }

  /** Shows what holds of a release; the words come from the service. */
  async show({ number, release }) {
    this.#wanted = number;
    if (this.#asking) return;
    this.#asking = true;
    const said = await get(of(this.#name, "/releases/latest/words")).catch(() => null);
    this.#asking = false;
    if (said && said.number >= this.#wanted) this.#fill(said, release);
  }

  #fill({ number, words, beside }, release) {
    const trusted = words
      ? [...(words.why_empty ? [make("p", {}, words.why_empty)] : []), make("p", {}, words.sure), make("ul", { class: "holds" }, ...words.holds.map((text) => make("li", {}, text)))]
      : [];
    const chance = release.delta ? `, but for a chance of ${small(release.delta)} (delta)` : "";
    const lists = release.continual ? "All lists together have" : "Each list has";
    this.#place.replaceChildren(
      ...trusted,
      make("p", {}, make("b", {}, "Protected"), ` is ${release.unit}. ${lists} epsilon ${small(release.epsilon)}: whatever is shown here became at most ${likelier(release.epsilon)} as likely or unlikely by it${chance}.`),
      ...(words ? [make("p", {}, make("b", {}, "Not hidden"), ` is ${words.not_hidden}.`)] : []),
      ...(beside ? [make("p", {}, beside)] : []),
      make("p", { class: "small" }, `Of list ${number}.`),
    );
  }
}
