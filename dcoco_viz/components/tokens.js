// Token pieces as text. A piece is a string of bytes, one character a byte (see wire.py).
(() => {
  const strict = new TextDecoder("utf-8", {fatal: true});
  const toBytes = (piece) => Uint8Array.from(piece, (c) => c.charCodeAt(0));
  const hex = (n) => "<" + n.toString(16).toUpperCase().padStart(2, "0") + ">";

  // Where a whole UTF-8 character begins at `i`, its text; null where the byte stands alone.
  function character(bytes, i) {
    const lead = bytes[i];
    const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    try { return {text: strict.decode(bytes.subarray(i, i + length)), length}; } catch { return null; }
  }

  const GLYPHS = {" ": "·", "\n": "⏎", "\t": "⇥", "\r": "␍"};
  const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cn}\u00a0\u2000-\u200a\u202f\u3000\u034f\ufe00-\ufe0f\u3164]/u;
  const JOINERS = new Set(["\u200c", "\u200d", "\ufe0f", "\u00a0", "\u3000"]); // belong to words and emoji

  function glyph(char, first) {
    if (GLYPHS[char]) return GLYPHS[char];
    if (HIDDEN.test(char)) return hex(char.codePointAt(0));
    return first && /\p{M}/u.test(char) ? "◌" + char : char;
  }

  // Everything visible: spaces ·, newlines ⏎, invisible characters <200B>, parts of a character <E2>.
  function visible(piece, limit = 48) {
    if (piece === undefined) return "…";
    if (piece === "") return "∅";
    const bytes = toBytes(piece);
    let out = "";
    for (let i = 0; i < bytes.length;) {
      const found = character(bytes, i);
      out += found ? glyph(found.text, out === "") : hex(bytes[i]);
      i += found ? found.length : 1;
      if (out.length > limit) return out.slice(0, limit) + "…";
    }
    return out;
  }

  // Text as a reader wants it, token by token: a character that is split over tokens appears with its last one.
  function reader() {
    const decoder = new TextDecoder("utf-8");
    return (piece) => [...decoder.decode(toBytes(piece), {stream: true})]
      .map((c) => (HIDDEN.test(c) && c !== "\n" && c !== "\t" && !JOINERS.has(c) ? hex(c.codePointAt(0)) : c)).join("");
  }

  Object.assign(window.dcoco, {visible, reader});
})();
