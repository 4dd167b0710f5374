// Grid and heatmap as they are drawn while cycles fly past; `place` is where their tables have their parts.
(() => {
  // The paths in the gaps between columns, never over a token, and the acceptance point; SVG path data.
  function routes(picture, place) {
    const {columns, top, pitch, height, start, headTop} = place, {slots, cycle, ranks} = picture;
    const y = (k) => top + k * pitch + height / 2;
    const join = (rank) => {
      let d = "", from = {x: start, y: y(0)};
      columns.forEach((column, j) => {
        const k = rank(j);
        if (k < 0) { from = null; return; }
        if (from) d += `M${from.x} ${from.y}C${column.left - 2} ${from.y} ${from.x + 2} ${y(k)} ${column.left} ${y(k)}`;
        from = {x: column.right, y: y(k)};
      });
      return d;
    };
    const a = cycle.accepted, gap = columns[0].left - start;
    const x = a === 0 ? columns[0].left - gap / 2 : columns[a - 1].right + gap / 2;
    return {chosen: join((j) => slots[j].chosen), argmax: picture.strays ? join(() => 0) : "",
            rule: picture.dense ? null : {x, top: headTop, bottom: top + pitch * ranks}};
  }

  function drawCell(sheet, place, dye, picture, j, k) {
    const slot = picture.slots[j], face = picture.faces[j * picture.ranks + k], {left, right} = place.columns[j];
    const y = place.top + k * place.pitch, width = right - left, {tok, p} = place;
    const [fill, ink] = dye.scales[+slot.dim][face.step];
    sheet.fill(fill, left, y, width, place.height);
    if (slot.dim || slot.hatched) sheet.context.drawImage(slot.hatched ? dye.unsent : dye.dim, left, y, width, place.height);
    sheet.font(place.fonts.tok);
    const room = tok.width - 8;
    sheet.text(face.text, left + tok.left + 4, y + tok.top + tok.height / 2, ink, {room});
    if (slot.held === k) {
      const pill = Math.min(tok.width, sheet.width(face.text) + 8), x = left + tok.left, inset = slot.later ? 1 : 0;
      sheet.frame(ink, slot.later ? 1 : 2, x + inset, y + tok.top + inset, pill - 2 * inset, tok.height - 2 * inset,
                  {radius: 9, dash: slot.later ? [1, 1] : []});
    }
    sheet.font(place.fonts.p);
    sheet.text(face.share, right - p.right, y + p.middle, ink, {at: "right"});
    if (slot.chosen === k) sheet.frame(dye.method, 2.5, left, y, width, place.height);
    else if (k === 0 && slot.argmax) sheet.frame(dye.muted, 1.5, left, y, width, place.height, {dash: [4, 3]});
  }

  const MARKS = {unsent: "not sent", taken: "✓", refused: "✗", after: "–"};

  function drawHead(sheet, place, dye, slot, j) {
    const {left, right} = place.columns[j], strong = slot.state === "taken" || slot.state === "refused", mark = MARKS[slot.state];
    const markFont = strong ? place.fonts.strong : place.fonts.mark;
    sheet.font(markFont);
    const wide = sheet.width(mark);
    sheet.font(place.fonts.head);
    const number = String(j + 1), x = (left + right - sheet.width(number) - 5 - wide) / 2;
    sheet.text(number, x, place.headMiddle, dye.ink);
    const at = x + sheet.width(number) + 5;
    sheet.font(markFont);
    sheet.text(mark, at, place.headMiddle, strong ? dye.ink : dye.muted);
  }

  function drawFoot(sheet, place, dye, slot, j) {
    const {left, right} = place.columns[j], y = place.footTop, missing = slot.known && slot.held < 0;
    if (slot.known) {
      const pad = missing ? (slot.later ? 5.5 : 6) : 0, room = right - left - 2 * pad;
      sheet.font(missing && !slot.later ? place.fonts.missing : place.fonts.foot);
      const text = sheet.fit(slot.text, room), high = slot.later ? 16 : 17;
      if (missing) sheet.frame(slot.later ? dye.muted : dye.ink, slot.later ? 1.5 : 2, left, y + (slot.later ? 1 : 0), sheet.width(text) + 2 * pad, high,
                               {radius: 10, dash: slot.later ? [1.5, 1.5] : []});
      sheet.text(text, left + pad, y + 8, missing ? dye.ink : dye.muted);
    }
    sheet.font(place.fonts.where);
    sheet.text(slot.known ? slot.where : "text ends", left, y + (slot.known ? (missing ? 24 : 22.5) : 6.5), dye.muted);
  }

  // dye: colours and scales of the theme; spot: the focused cell, or null.
  function drawGrid(sheet, picture, place, dye, spot) {
    sheet.begin(dye.page);
    sheet.font(place.fonts.tok);
    sheet.text("anchor", (place.anchor.left + place.anchor.right) / 2, place.headMiddle, dye.muted, {at: "center"});
    picture.slots.forEach((slot, j) => drawHead(sheet, place, dye, slot, j));
    const {left, right, top, height} = place.anchor;
    sheet.fill(dye.panel, left, top, right - left, height);
    sheet.frame(dye.ink, 1.5, left, top, right - left, height);
    sheet.font(place.fonts.tok);
    sheet.text(picture.anchor, left + 6.5, top + height / 2, dye.ink, {room: right - left - 13});
    for (let j = 0; j < picture.slots.length; j++) for (let k = 0; k < picture.ranks; k++) drawCell(sheet, place, dye, picture, j, k);
    picture.slots.forEach((slot, j) => drawFoot(sheet, place, dye, slot, j));
    const c = sheet.context, {chosen, argmax, rule} = routes(picture, place);
    Object.assign(c, {strokeStyle: dye.muted, lineWidth: 1.5});
    c.setLineDash([3, 2]);
    if (argmax) c.stroke(new Path2D(argmax));
    c.setLineDash([]);
    Object.assign(c, {strokeStyle: dye.method, lineWidth: 2.5});
    c.stroke(new Path2D(chosen));
    if (rule) sheet.fill(dye.ink, rule.x - 2, rule.top, 4, rule.bottom - rule.top);
    if (spot) sheet.frame(dye.focus, 3, place.columns[spot.j].left - 4, place.top + spot.k * place.pitch - 4,
                          place.columns[spot.j].right - place.columns[spot.j].left + 8, place.height + 8);
  }

  function drawHeat(sheet, picture, place, dye) {
    const {n, from, to} = picture, {xs, ys, wide, high} = place, c = sheet.context;
    sheet.begin(dye.page);
    for (let a = 0; a < picture.rows.length; a++) {
      const y = ys[a], middle = y + high / 2 - 1;
      for (let b = 0; b < n; b++) {
        const [fill, ink] = dye.fills[picture.steps[a * n + b]], strong = a === from && b === to;
        sheet.fill(fill, xs[b], y, wide, high);
        if (a === from && !strong) for (const at of [y, y + high - 2]) sheet.fill(dye.method, xs[b], at, wide, 2);
        if (b === to && !strong) for (const at of [xs[b], xs[b] + wide - 1]) sheet.fill(dye.method, at, y, 1, high);
        sheet.font(strong ? place.fonts.strong : place.fonts.cell);
        sheet.text(picture.texts[a * n + b], xs[b] + wide / 2, middle, ink, {at: "center"});
      }
      const walked = a === from, room = place.names - 6;
      sheet.font(walked ? place.fonts.walked : place.fonts.name);
      const text = sheet.fit(picture.rows[a], room - (walked ? sheet.width("▶ ") : 0)), x = place.left + place.names - 3;
      sheet.text(text, x, middle, walked ? dye.ink : dye.muted, {at: "right"});
      if (walked) sheet.text("▶ ", x - sheet.width(text), middle, dye.method, {at: "right"});
    }
    if (from >= 0 && to >= 0) sheet.frame(dye.ink, 3, xs[to] - 2, ys[from] - 2, wide + 4, high + 4);
    for (let b = 0; b < n; b++) {
      const walked = b === to;
      sheet.font(walked ? place.fonts.walked : place.fonts.name);
      c.save();
      c.translate(xs[b] + wide / 2, place.base - 1);
      c.rotate(-Math.PI / 2);
      const mark = walked ? sheet.width("▶ ") : 0;
      if (walked) sheet.text("▶ ", 0, 0, dye.method);
      sheet.text(picture.columns[b], mark, 0, walked ? dye.ink : dye.muted, {room: place.tall - mark});
      c.restore();
    }
  }

  Object.assign(window.dcoco, {routes, drawGrid, drawHeat, MARKS});
})();
