// Places names in a chart so that they overlap no line, dot or other name.

/** In pixels. */
const HIGH = 13;
const GAP = 8;
const LINE = 3;
/** The distance of points that represent a line. */
const APART = 4;

/** The boxes and points that are taken. */
export class Labels {
  #frame;
  #points = [];
  #boxes = [];

  constructor(frame, all) {
    this.#frame = frame;
    const last = frame.columns.length - 1;
    for (const { points } of all) {
      points.forEach(([column, lane], index) => {
        const [x, y] = [frame.x(column), frame.y(lane)];
        if (column === last) this.#boxes.push([x - 24, y - 12, frame.width - x + 24, 24]);
        else this.#boxes.push([x - 5, y - 5, 10, 10]);
        const before = points[index - 1];
        if (before && before[0] === column - 1) this.#points.push(...along(frame, before, [column, lane]));
      });
    }
  }

  /** Reserves a place for the name of a line, near its latest dot with free space. */
  place({ points }, wide) {
    for (const [column, lane] of [...points].reverse()) {
      const [x, y] = [this.#frame.x(column), this.#frame.y(lane)];
      const places = [[x + GAP, y - HIGH / 2], [x - wide / 2, y - GAP - HIGH], [x - wide / 2, y + GAP], [x + GAP, y - GAP - HIGH], [x + GAP, y + GAP], [x - wide - GAP, y - HIGH / 2]];
      const free = places.map(([left, top]) => [left, top, wide, HIGH]).find((box) => this.#isFree(box));
      if (!free) continue;
      this.#boxes.push(free);
      return [free[0], free[1] + HIGH - 3];
    }
    return null;
  }

  #isFree([left, top, wide, high]) {
    const { width, height } = this.#frame;
    if (left < 0 || left + wide > width || top < 18 || top + high > height) return false;
    const onLine = ([x, y]) => x > left - LINE && x < left + wide + LINE && y > top - LINE && y < top + high + LINE;
    const onBox = ([x, y, w, h]) => x < left + wide && left < x + w && y < top + high && top < y + h;
    return !this.#points.some(onLine) && !this.#boxes.some(onBox);
  }
}

/** Points on the curve between two dots. */
function along(frame, [from, high], [to, low]) {
  const [x0, x1, y0, y1] = [frame.x(from), frame.x(to), frame.y(high), frame.y(low)];
  const points = Math.ceil((2 * (x1 - x0) + 2 * Math.abs(y1 - y0)) / APART);
  return Array.from({ length: points + 1 }, (_, index) => {
    const t = index / points;
    const [a, b, c, d] = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t ** 2 * (1 - t), t ** 3];
    const middle = (x0 + x1) / 2;
    return [a * x0 + (b + c) * middle + d * x1, (a + b) * y0 + (c + d) * y1];
  });
}
