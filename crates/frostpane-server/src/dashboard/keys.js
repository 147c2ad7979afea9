// Unambiguous names of keys: an invisible or confusable character is written as ⟨U+200B⟩.

/** Control, format and unassigned characters, separators, blank letters, variation selectors, and the bracket that begins an escape. */
const UNSEEN = /[\p{C}\p{Z}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u27e8\u2800\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u;
/** Legitimate after letters of some scripts, and in emoji. */
const JOINER = /[\u200c\u200d\ufe0e\ufe0f]/;
const JOINED = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]|(?![\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}])[\p{L}\p{M}]/u;
const MARK = /\p{M}/u;
/** The most marks on a letter: more run into other lines. */
const MARKS = 2;
/** The most code points that are shown beside a key. */
const POINTS = 200;
/** Parts of Korean syllables. */
const JAMO = /[\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb]/;
/** Scripts with confusable letters: a word should use one of them. */
const ALPHABETS = ["Latin", "Cyrillic", "Greek", "Armenian", "Cherokee", "Coptic", "Georgian", "Lisu"].map((name) => new RegExp(`\\p{Script=${name}}`, "u"));
const WORD = /[\p{L}\p{M}]+/gu;
/** Pairs of a letter and the one that it resembles. */
const PAIRS =
  "аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝwѵvӏlкkАAВBЕEКKМMНHОOРPСCТTХXУYІlЅSЈJЗ3Ьb" +
  "οoαaνvρpυuιiκkΑAΒBΕEΖZΗHΙlΚKΜMΝNΟOΡPΤTΥYΧXոnսuօoհhցgզqıiɑaɡgɩiIl1l|l0O" +
  "‐-‑-‒-–-—-−-’'‘'ʼ'`'“\"”\"․.⁄/∕/";
const LOOKS = new Map([...PAIRS.matchAll(/(.)(.)/gsu)].map(([, letter, like]) => [letter, like]));

const escaped = (letter) => `⟨U+${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
const seen = (letter) => letter === " " || !UNSEEN.test(letter);

/** The appearance of a letter. */
const look = (letter) => [...letter.normalize("NFKD")].map((one) => LOOKS.get(one) ?? one).join("");

/** The appearance of a key. */
const skeleton = (key) => look([...key].filter(seen).join("")).trim().replace(/ +/g, " ");

/** The positions of letters in another script than most of their word. */
function strangers(key) {
  const places = new Set();
  for (const { 0: word, index } of key.matchAll(WORD)) {
    const scripts = ALPHABETS.map((script) => [...word.matchAll(new RegExp(script, "gu"))].map((found) => index + found.index));
    const most = scripts.reduce((best, one) => (one.length > best.length ? one : best));
    scripts.filter((one) => one !== most).flat().forEach((place) => places.add(place));
  }
  return places;
}

/** Splits a key into letters and escapes. */
function spell(key, hasDouble) {
  const [foreign, composed] = [strangers(key), key === key.normalize("NFC")];
  const pieces = key === "" ? [{ text: "⟨empty⟩", odd: true }] : [];
  let [place, before, marks] = [0, "", 0];
  for (const letter of key) {
    const after = key.slice(place + letter.length);
    marks = MARK.test(letter) ? marks + 1 : 0;
    const blank = letter === " " && (before === "" || before === " " || after === "" || after.startsWith(" "));
    const joined = JOINER.test(letter) && JOINED.test(before) && !hasDouble;
    const loose = marks > 0 && (!composed || marks > MARKS || before === "");
    const hidden = blank || loose || (!seen(letter) && !joined);
    const doubtful = foreign.has(place) || (!composed && (JAMO.test(letter) || letter.normalize("NFC") !== letter)) || (hasDouble && look(letter) !== letter);
    if (!hidden) pieces.push({ text: letter, odd: false });
    if (hidden || doubtful) pieces.push({ text: escaped(letter), odd: true });
    [place, before] = [place + letter.length, letter];
  }
  return pieces;
}

/** Cuts the middle out of a long key. */
function shorten(pieces, columns) {
  const width = (some) => some.reduce((sum, { text }) => sum + [...text].length, 0);
  if (width(pieces) <= columns) return pieces;
  const fit = (some, room) => some.slice(0, some.findIndex((_, index) => width(some.slice(0, index + 1)) > room));
  const head = fit(pieces, Math.ceil((columns - 1) * 0.6));
  const tail = fit([...pieces].reverse(), columns - 1 - width(head)).reverse();
  return [...head, { text: "…", odd: false }, ...tail];
}

/** The names of keys that are shown together. */
export class Names {
  #looks = new Map();
  #spelt = new Map();

  constructor(keys) {
    for (const key of new Set(keys)) {
      const like = skeleton(key);
      this.#looks.set(like, (this.#looks.get(like) ?? 0) + 1);
    }
  }

  /** The letters and escapes of a key; a long one is cut. */
  pieces(key, columns = Infinity) {
    if (!this.#spelt.has(key)) this.#spelt.set(key, spell(key, this.#looks.get(skeleton(key)) > 1));
    return shorten(this.#spelt.get(key), columns);
  }

  /** The name as a string. */
  text(key, columns) {
    return this.pieces(key, columns).map(({ text }) => text).join("");
  }

  /** The code points of a key with escapes; otherwise empty. */
  points(key) {
    const odd = this.pieces(key).some((piece) => piece.odd);
    const point = (letter) => escaped(letter).slice(1, -1) + (seen(letter) && !MARK.test(letter) ? ` ${letter}` : "");
    const letters = [...key];
    return odd ? letters.slice(0, POINTS).map(point).join(", ") + (letters.length > POINTS ? ", …" : "") : "";
  }
}
