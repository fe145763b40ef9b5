"use strict";
(() => {
  const grouped = (number) => number.toLocaleString("en-US");
  const percent = (share) => (100 * share).toFixed(1) + " %";
  const colorOf = (name) =>
    getComputedStyle(document.documentElement).getPropertyValue("--" + name);

  const ROW_PIXELS = 18;
  const ROW_GAP = 4;
  const MOST_ROWS = 24;
  const PIECES_PER_ROW = 48;
  const LEAST_PIXELS = 2;  // a block of any size can be seen

  // Pieces side by side, to scale, in rows. One is chosen, with the pointer or
  // with keys, and the line below says what it is. `look` says of a piece its
  // `color` and its `text`, and may `open` it.
  class Drawing {
    constructor(element, pieces, look) {
      this.canvas = element.querySelector("canvas");
      this.figures = element.querySelector(".figures");
      this.look = look;
      this.show(pieces);
      this.canvas.addEventListener("pointermove", (e) => this.point(e));
      this.canvas.addEventListener("pointerdown", (e) => this.point(e));
      this.canvas.addEventListener("keydown", (e) => this.press(e));
      this.canvas.addEventListener("click", () => this.open());
      new ResizeObserver(() => this.draw()).observe(this.canvas);
      matchMedia("(prefers-color-scheme: dark)")
        .addEventListener("change", () => this.draw());
    }

    show(pieces) {
      this.pieces = pieces;
      this.starts = [];
      this.total = 0;
      for (const piece of pieces) {
        this.starts.push(this.total);
        this.total += piece.size;
      }
      // Small ones are drawn last, on top of their neighbours.
      this.order = [...pieces.keys()].sort(
        (a, b) => pieces[b].size - pieces[a].size);
      this.rows = Math.min(
        MOST_ROWS, Math.max(1, Math.ceil(pieces.length / PIECES_PER_ROW)));
      this.chosen = -1;
      this.canvas.setAttribute("aria-valuemax", Math.max(1, pieces.length));
      this.canvas.style.height =
        this.rows * (ROW_PIXELS + ROW_GAP) - ROW_GAP + "px";
      this.draw();
    }

    // The rectangles of a piece, one in each row that it reaches.
    boxes(index) {
      const width = this.canvas.clientWidth;
      const perRow = this.total / this.rows;
      const from = this.starts[index];
      const to = from + this.pieces[index].size;
      const boxes = [];
      const first = Math.min(this.rows - 1, Math.floor(from / perRow));
      for (let row = first; row < this.rows; ++row) {
        const begin = Math.max(0, from / perRow - row) * width;
        const end = Math.min(1, to / perRow - row) * width;
        if (row > first && end <= 0) break;
        const wide = Math.max(LEAST_PIXELS, end - begin);
        boxes.push({
          x: Math.min(begin, width - wide), width: wide,
          y: row * (ROW_PIXELS + ROW_GAP), height: ROW_PIXELS,
        });
      }
      return boxes;
    }

    draw() {
      const { clientWidth: width, clientHeight: height } = this.canvas;
      if (width === 0 || height === 0) return;  // not open
      const ratio = devicePixelRatio || 1;
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      const context = this.canvas.getContext("2d");
      context.scale(ratio, ratio);
      const colors = new Map();
      const color = (name) => {
        if (!colors.has(name)) colors.set(name, this.look.resolve(name));
        return colors.get(name);
      };
      for (const index of this.order) {
        context.fillStyle = color(this.look.color(this.pieces[index]));
        for (const box of this.boxes(index)) {
          // Neighbours are told apart where there is room.
          const space = box.width > 4 * LEAST_PIXELS ? 1 : 0;
          context.fillRect(box.x, box.y, box.width - space, box.height);
        }
      }
      if (this.chosen >= 0) {
        context.lineWidth = 2;
        context.strokeStyle = colorOf("text");
        for (const box of this.boxes(this.chosen)) {
          context.strokeRect(
            box.x + 1, box.y + 1, Math.max(1, box.width - 2), box.height - 2);
        }
      }
    }

    // The piece at a place; of several that are near, the smallest.
    at(x, y) {
      const row = Math.min(
        this.rows - 1, Math.max(0, Math.floor(y / (ROW_PIXELS + ROW_GAP))));
      const place = (row + x / this.canvas.clientWidth) / this.rows * this.total;
      let low = 0;
      let high = this.pieces.length;
      while (low + 1 < high) {
        const middle = (low + high) >> 1;
        if (this.starts[middle] <= place) low = middle; else high = middle;
      }
      const near = (index) => this.boxes(index).some(
        (box) => y >= box.y && y <= box.y + box.height + ROW_GAP &&
          x >= box.x - LEAST_PIXELS && x <= box.x + box.width + LEAST_PIXELS);
      let best = low;
      for (let i = Math.max(0, low - 4);
        i < Math.min(this.pieces.length, low + 5); ++i) {
        if (this.pieces[i].size < this.pieces[best].size && near(i)) best = i;
      }
      return best;
    }

    point(event) {
      const box = this.canvas.getBoundingClientRect();
      this.choose(this.at(event.clientX - box.left, event.clientY - box.top));
    }

    open() {
      if (this.look.open && this.chosen >= 0) {
        this.look.open(this.pieces[this.chosen]);
      }
    }

    press(event) {
      if (event.key === "Enter") this.open();
      const step = Math.max(1, Math.round(this.pieces.length / 20));
      const last = this.pieces.length - 1;
      const target = {
        ArrowRight: this.chosen + 1, ArrowUp: this.chosen + 1,
        ArrowLeft: this.chosen - 1, ArrowDown: this.chosen - 1,
        PageUp: this.chosen + step, PageDown: this.chosen - step,
        Home: 0, End: last,
      }[event.key];
      if (target === undefined) return;
      event.preventDefault();
      this.choose(Math.min(last, Math.max(0, target)));
    }

    choose(index) {
      if (index === this.chosen || !(index in this.pieces)) return;
      this.chosen = index;
      const text = this.look.text(this.pieces[index]);
      this.figures.textContent = text;
      this.canvas.setAttribute("aria-valuenow", index + 1);
      this.canvas.setAttribute("aria-valuetext", text);
      this.draw();
    }
  }

  const dataOf = (element) =>
    JSON.parse(element.querySelector("script").textContent);

  // The blocks of a file.
  function drawBlocks(file, element) {
    const pieces = dataOf(element).map(
      ([type, mixed, offset, size, contents, blocks, damaged, codec]) =>
        ({ type, mixed, offset, size, contents, blocks, damaged, codec }));
    const look = {
      color: (piece) =>
        piece.damaged ? "damaged" : piece.type.replaceAll(" ", "-"),
      resolve: (name) => colorOf(name) || colorOf("other"),
      text: (piece) => [
        piece.blocks > 1
          ? `${grouped(piece.blocks)} blocks, ` +
            (piece.mixed ? "most of their bytes " : "") + piece.type
          : piece.type,
        `offset ${grouped(piece.offset)}`,
        `${grouped(piece.size)} bytes stored`,
        piece.contents === piece.size ? "" :
          `${grouped(piece.contents)} of contents, ratio ` +
          (piece.contents / piece.size).toFixed(2),
        piece.codec,
        piece.damaged === 0 ? "" :
          piece.blocks > 1 ? `${grouped(piece.damaged)} DAMAGED` : "DAMAGED",
      ].filter((part) => part !== "").join(" \u00b7 "),
    };
    const drawing = new Drawing(element, pieces, look);
    const hidden = new Set();
    const show = () => {
      const shown = pieces.filter((piece) => !hidden.has(piece.type));
      drawing.show(shown);
      element.dataset.drawn =
        shown.reduce((sum, piece) => sum + piece.blocks, 0);
    };
    for (const button of file.querySelectorAll(".legend button")) {
      button.disabled = false;
      button.addEventListener("click", () => {
        const type = button.dataset.type;
        if (!hidden.delete(type)) hidden.add(type);
        button.setAttribute("aria-pressed", !hidden.has(type));
        show();
      });
    }
    show();
  }

  // Dark to light, told apart by every kind of eye: "viridis".
  const SCALE =
    [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
  const scaleColor = (share) => {
    const at = Math.min(1, Math.max(0, share)) * (SCALE.length - 1);
    const low = Math.min(SCALE.length - 2, Math.floor(at));
    const mixed = SCALE[low].map((from, i) =>
      Math.round(from + (at - low) * (SCALE[low + 1][i] - from)));
    return `rgb(${mixed.join(" ")})`;
  };

  const showScale = (element, least, most, meaning) => {
    const bar = document.createElement("i");
    bar.style.background = "linear-gradient(to right," +
      SCALE.map((color) => `rgb(${color.join(" ")})`).join(",") + ")";
    element.append(percent(least), bar, percent(most) + " " + meaning);
  };

  // How full a filter section is, from its first bits to its last.
  function drawFill(element) {
    const { part, buckets } = dataOf(element);
    const pieces = buckets.map(
      ([first, last, offset, size, set]) =>
        ({ first, last, offset, size, share: set / (8 * size) }));
    // Over at least a fifth of all shares, so that chance does not look like
    // structure.
    let low = 1;
    let high = 0;
    for (const { share } of pieces) {
      low = Math.min(low, share);
      high = Math.max(high, share);
    }
    const widen = Math.max(0, 0.2 - (high - low)) / 2;
    const least = Math.max(0, low - widen);
    const most = Math.min(1, high + widen);
    const look = {
      color: (piece) => scaleColor((piece.share - least) / (most - least)),
      resolve: (color) => color,
      text: (piece) => [
        `${percent(piece.share)} of bits set`,
        `${grouped(piece.size)} bytes from byte ${grouped(piece.offset)}`,
        piece.first === piece.last ? `${part} ${grouped(piece.first)}` :
          `${part}s ${grouped(piece.first)} to ${grouped(piece.last)}`,
      ].join(" \u00b7 "),
    };
    new Drawing(element, pieces, look);
    const scale = document.createElement("p");
    scale.className = "scale";
    showScale(scale, least, most, "of bits set; pieces have " +
      `${percent(low)} to ${percent(high)}, and are ${grouped(pieces.length)}`);
    element.append(scale);
    element.dataset.drawn = pieces.length;
  }

  // The files of a database, level by level. One that the page has, too, opens
  // when it is clicked on or chosen with Enter.
  function drawTree(tree) {
    const files = new Map();
    for (const file of document.querySelectorAll("details.file")) {
      files.set(file.dataset.path, file);
    }
    const levels = [...tree.querySelectorAll(".drawing.level")].map((element) => {
      const { level, runs } = dataOf(element);
      const pieces = runs.map(
        ([count, unread, size, entries, filter, path, from, to]) => ({
          level, count, unread, size, entries, filter, path, from, to,
          share: size === 0 ? 0 : filter / size,
        }));
      return { element, pieces };
    });
    let most = 0.001;
    for (const { pieces } of levels) {
      for (const { share } of pieces) most = Math.max(most, share);
    }
    const look = {
      color: (piece) => piece.unread ? undefined : piece.share / most,
      resolve: (share) =>
        share === undefined ? colorOf("damaged") : scaleColor(share),
      text: (piece) => [
        piece.count === 1 ? piece.path :
          `${grouped(piece.count)} files from ${piece.path} on`,
        `${grouped(piece.size)} bytes`,
        piece.unread ? `${grouped(piece.unread)} NOT READ` :
          `${grouped(piece.entries)} entries`,
        piece.unread ? "" :
          `${grouped(piece.filter)} bytes of filters, ${percent(piece.share)}`,
        // Files of level 0 overlap.
        piece.count > 1 && piece.level === 0 ? "" :
          `keys ${piece.from} to ${piece.to}`,
      ].filter((part) => part !== "").join(" \u00b7 "),
      open: (piece) => {
        const file = files.get(piece.path);
        if (file === undefined) return;
        file.open = true;
        file.scrollIntoView();
      },
    };
    for (const { element, pieces } of levels) {
      new Drawing(element, pieces, look);
      element.dataset.drawn =
        pieces.reduce((sum, piece) => sum + piece.count, 0);
    }
    showScale(tree.querySelector(".scale"), 0, most, "of a file are filters");
  }
  document.querySelectorAll(".tree").forEach(drawTree);

  function open(file) {
    if (file.dataset.open !== undefined) return;
    file.dataset.open = "";
    for (const element of file.querySelectorAll(".drawing.blocks")) {
      drawBlocks(file, element);
    }
    file.querySelectorAll(".drawing.fill").forEach(drawFill);
  }
  for (const file of document.querySelectorAll("details.file")) {
    if (file.open) open(file);
    file.addEventListener("toggle", () => { if (file.open) open(file); });
  }
})();
