"use strict";
// Each entry: name, kind, pack, link, a sentence. Found is what holds every word; names come before the rest.
(() => {
  const box = document.querySelector(".search");
  const field = box.querySelector("input");
  const list = box.querySelector(".found");
  const most = 40;
  const entries = window.REWRIGHT_INDEX.map(entry => {
    const name = entry[0].toLowerCase();
    return { entry, name, last: name.slice(name.lastIndexOf(".") + 1), all: entry.join(" ").toLowerCase() };
  });
  let chosen = -1;

  const rank = ({ name, last }, query) => {
    if (name === query || last === query) return 0;
    if (last.startsWith(query) || name.startsWith(query)) return 1;
    return name.includes(query) ? 2 : 3;
  };
  const find = text => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return [];
    const found = entries.filter(({ all }) => words.every(word => all.includes(word)));
    return found.map(e => [rank(e, words[0]), e]).sort((a, b) => a[0] - b[0]).map(pair => pair[1].entry);
  };
  const line = ([name, kind, pack, link, sentence]) => {
    const a = document.createElement("a");
    a.href = link;
    for (const [tag, text] of [["b", name], ["span", [kind, pack].filter(Boolean).join(" of ")], ["small", sentence]]) {
      const part = document.createElement(tag);
      part.textContent = text;
      a.append(part);
    }
    return a;
  };
  const choose = at => {
    const lines = list.querySelectorAll("a");
    if (chosen >= 0 && lines[chosen]) lines[chosen].classList.remove("chosen");
    chosen = Math.max(-1, Math.min(at, lines.length - 1));
    if (chosen >= 0) {
      lines[chosen].classList.add("chosen");
      lines[chosen].scrollIntoView({ block: "nearest" });
    }
  };
  const show = () => {
    const found = find(field.value);
    const count = document.createElement("p");
    count.textContent = found.length > most ? `${most} of ${found.length}; more words find less` : `${found.length} found`;
    list.replaceChildren(count, ...found.slice(0, most).map(line));
    list.hidden = field.value.trim() === "";
    chosen = -1;
  };
  field.addEventListener("input", show);
  field.addEventListener("keydown", event => {
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if (event.key === "Enter") list.querySelectorAll("a")[Math.max(chosen, 0)]?.click();
    else if (event.key === "Escape") { field.value = ""; show(); return; }
    else return;
    event.preventDefault();
  });
  list.addEventListener("click", () => { list.hidden = true; });
  document.addEventListener("keydown", event => {
    if (event.key === "/" && document.activeElement !== field) { event.preventDefault(); field.focus(); }
  });
  box.hidden = false;
})();
