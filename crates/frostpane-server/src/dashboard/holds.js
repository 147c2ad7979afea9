// Accuracy and privacy of a list.

import { get, of } from "./api.js";
import { make } from "./dom.js";
import { likelier, small } from "./words.js";

export class Holds {
  #place;
  #name;
  #asking = false;
  #wanted = 0;

  constructor(place, name) {
    this.#place = place;
    this.#name = name;
  }

  /** Shows the sentences of a release, which come from the service. */
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
    const chance = release.delta ? `, except with probability ${small(release.delta)} (delta)` : "";
    const lists = release.continual ? "All lists together have" : "Each list has";
    this.#place.replaceChildren(
      ...trusted,
      make("p", {}, make("b", {}, "Protected:"), ` ${release.unit}. ${lists} epsilon ${small(release.epsilon)}: no outcome is more than ${likelier(release.epsilon)} as likely with it as without it, or the other way round${chance}.`),
      ...(words ? [make("p", {}, make("b", {}, "Not hidden:"), ` ${words.not_hidden}.`)] : []),
      ...(beside ? [make("p", {}, beside)] : []),
      make("p", { class: "small" }, `For list ${number}.`),
    );
  }
}
