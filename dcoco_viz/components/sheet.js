// A canvas that lies over a table while the cycles fly past: to draw 240 cells takes a few milliseconds, to lay out
// and paint a table of them takes ten times as long. It shows what the table will show as soon as the lane rests.
(() => {
  class Sheet {
    constructor(parent) {
      this.canvas = parent.appendChild(document.createElement("canvas"));
      this.canvas.className = "sheet";
      this.canvas.setAttribute("aria-hidden", "true");
      this.context = this.canvas.getContext("2d", {alpha: false});
      this.widths = new Map();
      this.hide();
    }

    // Lie over this part of the parent, in CSS pixels.
    place({left, top, width, height}) {
      const dense = window.devicePixelRatio || 1;
      Object.assign(this.canvas.style, {left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px`});
      Object.assign(this.canvas, {width: Math.round(width * dense), height: Math.round(height * dense)});
      this.context.setTransform(dense, 0, 0, dense, -left * dense, -top * dense); // the parent's own coordinates
      this.box = {left, top, width, height};
    }

    hide() { this.visible = false; this.canvas.style.visibility = "hidden"; }

    // An empty sheet in the colour of the page, to draw on.
    begin(page) {
      const {left, top, width, height} = this.box;
      if (!this.visible) this.canvas.style.visibility = "visible";
      this.visible = true;
      this.fill(page, left, top, width, height);
    }

    // Edges fall on whole pixels, as those of boxes in the page do.
    snap(x, y, width, height) {
      const dense = window.devicePixelRatio || 1, whole = (at) => Math.round(at * dense) / dense;
      return [whole(x), whole(y), whole(x + width) - whole(x), whole(y + height) - whole(y)];
    }

    fill(colour, ...box) {
      this.context.fillStyle = colour;
      this.context.fillRect(...this.snap(...box));
    }

    // A frame `line` wide, inside the box, as a CSS border is.
    frame(colour, line, left, top, across, down, {dash = [], radius = 0} = {}) {
      const c = this.context, [x, y, width, height] = this.snap(left, top, across, down);
      Object.assign(c, {strokeStyle: colour, lineWidth: line});
      c.setLineDash(dash);
      if (!radius) c.strokeRect(x + line / 2, y + line / 2, width - line, height - line);
      else {
        c.beginPath();
        c.roundRect(x + line / 2, y + line / 2, width - line, height - line, Math.max(0, radius - line / 2));
        c.stroke();
      }
      c.setLineDash([]);
    }

    font(font) {
      if (this.type === font) return;
      this.type = this.context.font = font;
      const {fontBoundingBoxAscent: up, fontBoundingBoxDescent: down} = this.context.measureText("x");
      this.rise = (up - down) / 2; // from the middle of a line to its baseline
    }

    width(text) {
      const key = this.type + text;
      if (!this.widths.has(key)) {
        if (this.widths.size > 20_000) this.widths.clear();
        this.widths.set(key, this.context.measureText(text).width);
      }
      return this.widths.get(key);
    }

    // The text, or as much of it as fits before an ellipsis.
    fit(text, room) {
      if (this.width(text) <= room) return text;
      const letters = [...text];
      while (letters.length && this.width(letters.join("") + "…") > room) letters.pop();
      return letters.join("") + "…";
    }

    // One line of text; `middle` is the middle of its line box, `at` the left end, the right end or the middle.
    text(text, x, middle, colour, {at = "left", room = Infinity} = {}) {
      this.context.textAlign = at;
      this.context.fillStyle = colour;
      this.context.fillText(room === Infinity ? text : this.fit(text, room), x, middle + this.rise);
    }
  }

  // The page's own colours as they are now; read when the theme changes, never while drawing.
  const colours = (element) => {
    const style = getComputedStyle(element), read = (name) => style.getPropertyValue(name).trim();
    return {page: read("--dv-page"), panel: read("--dv-panel"), ink: read("--dv-ink"), muted: read("--dv-muted"), hatch: read("--dv-hatch"),
            focus: read("--dv-focus"), method: read("--method")};
  };

  const fontOf = (node, weight) => {
    const style = getComputedStyle(node);
    return `${weight ?? style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  };

  // A tile as large as a cell with the lines of `repeating-linear-gradient(angle, transparent 0 gap, colour gap period)`.
  function hatching(width, height, colour, period, falling) {
    const dense = window.devicePixelRatio || 1, tile = new OffscreenCanvas(Math.ceil(width * dense), Math.ceil(height * dense));
    const c = tile.getContext("2d");
    c.setTransform(dense, 0, 0, dense, 0, 0);
    c.strokeStyle = colour;
    const apart = period * Math.SQRT2;
    for (let x = (period - 0.5) * Math.SQRT2; x < width + height; x += apart) {
      c.moveTo(x, falling ? height : 0);
      c.lineTo(x - height, falling ? 0 : height);
    }
    c.stroke();
    return tile.transferToImageBitmap();
  }

  Object.assign(window.dcoco, {Sheet, colours, fontOf, hatching});
})();
