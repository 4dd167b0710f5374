// Small parts that every view is built of.
(() => {
  const make = (tag, name = "", text = "") => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    if (text !== "") node.textContent = text;
    return node;
  };

  // A term inside `parent` that shows its definition (metrics/names.py) when pointed at or focused.
  const explain = (parent, words, definition, id) => {
    const term = parent.appendChild(make("span", "dv-term", words)), tip = parent.appendChild(make("span", "dv-tip"));
    term.tabIndex = 0;
    tip.id = "dv-tip-" + id;
    tip.setAttribute("role", "tooltip");
    term.setAttribute("aria-describedby", tip.id);
    tip.append(make("b", "", definition.label), make("code", "", definition.formula), make("span", "", definition.text));
    if (definition.paper) tip.append(make("span", "paper", `The paper: ${definition.paper}`));
  };

  // Names with a value under each, side by side; a name with a definition explains itself. Returns [item, value] by name.
  const strip = (parent, terms, id) => {
    const list = parent.appendChild(make("dl", "dv-strip"));
    return Object.fromEntries(Object.entries(terms).map(([name, definition]) => {
      const item = list.appendChild(make("div", "item-" + name)), term = item.appendChild(make("dt"));
      if (definition.formula) explain(term, definition.label, definition, `${id}-${name}`);
      else term.textContent = definition.label;
      return [name, {item, value: item.appendChild(make("dd"))}];
    }));
  };

  // Write only what differs, and into the text node that is there: a new node has the page's :has() rules looked over.
  const write = (node, text) => {
    const there = node.firstChild;
    if (!there || there.nodeType !== Node.TEXT_NODE) node.textContent = text;
    else if (there.data !== text) there.data = text;
  };

  const signed = (x, digits) => (x < 0 ? "−" : "+") + Math.abs(x).toFixed(digits);
  const minus = (x, digits) => x.toFixed(digits).replace("-", "−");

  Object.assign(window.dcoco, {make, explain, strip, write, signed, minus});
})();
