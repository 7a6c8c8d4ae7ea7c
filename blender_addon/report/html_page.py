# SPDX-License-Identifier: GPL-3.0-or-later
"""The style and the script of the page that `html_report` writes.

A browser without scripts shows each table as it is in its <noscript>, where a browser with scripts makes nothing of it
but text: a line for the beginning of the table, one for each row, one for its end. The script takes the rows from
there and draws those that are near the window, in bodies of `BODY` rows; the other bodies are empty and as high as
their rows would be. Sorting and searching change nothing but a list of numbers of rows. All markup comes from Python,
which has escaped what it is made of.
"""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; overflow-anchor: none; --line: #8884; --dim: #666; --bad: #c04a00; --touch: #00785a;
  --near: #8a3d79; --mark: #fd03; }
@media (prefers-color-scheme: dark) { :root { --dim: #999; --bad: #ff8a3c; --touch: #2c9; --near: #dda0cf; } }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 84rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .3rem; }
h1, h2, p, li, dd { overflow-wrap: anywhere; }
p.sum { margin: .2rem 0 1rem; } .dim { color: var(--dim); } .partial { color: var(--bad); font-weight: 600; }
input { font: inherit; padding: .3rem .5rem; width: 22rem; max-width: 100%; box-sizing: border-box; margin: .4rem 0; }
output { color: var(--dim); display: inline-block; margin: 0 .5rem; }
table { border-collapse: collapse; width: 100%; table-layout: fixed; min-width: 48rem; }
table:has(col.picture) { min-width: 62rem; }
th, td { text-align: left; padding: .35rem .6rem; vertical-align: top; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere; }
th { position: sticky; top: 0; z-index: 1; background: Canvas; border-bottom: 0; box-shadow: inset 0 -2px var(--line);
  vertical-align: bottom; overflow-wrap: normal; }
td .dim, td .partial { font-size: .9em; } td.n, th.n { text-align: right; }
td.n { font-variant-numeric: tabular-nums; overflow-wrap: normal; }
col.name { width: 14%; } col.n { width: 8.6rem; } col.area { width: 7.8rem; } col.status { width: 6rem; }
col.picture { width: 12.3rem; }
th button { all: unset; cursor: pointer; font-weight: 600; } th button:hover { text-decoration: underline; }
th button:focus-visible, button.picture:focus-visible { outline: 2px solid; outline-offset: 2px; }
th[aria-sort=ascending] button::after { content: "\\00a0\\25B2"; }
th[aria-sort=descending] button::after { content: "\\00a0\\25BC"; }
tbody[aria-hidden] td { padding: 0; border: 0; }
tr.target { background: var(--mark); scroll-margin: 4rem; }
.penetrating { color: var(--bad); } .touching { color: var(--touch); } .within_clearance { color: var(--near); }
p.partial:has(+ ul) { margin: .2rem 0; } ul.unchecked { margin: 0 0 1rem; }
.between { border-left: 3px solid var(--bad); padding-left: .7rem; }
tr.resolved, tr.approved, tr.outdated { opacity: .55; }
img { width: 11rem; max-width: none; aspect-ratio: auto 8 / 5; border-radius: 4px; display: block; }
button.picture { all: unset; cursor: zoom-in; }
dialog { border: 1px solid var(--line); border-radius: 8px; padding: 1rem; cursor: zoom-out; }
dialog::backdrop { background: #000a; } dialog p { margin: 0 0 .6rem; } dialog img { width: min(640px, 85vw); }
.blocked { animation: late 0s 2s both; } @keyframes late { from { visibility: hidden; } }
details { margin: .6rem 0; } dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }
dt { color: var(--dim); } dd { margin: 0; }
@media (max-width: 64rem) { .wide { overflow-x: auto; } th { position: static; } }
@media print { :root { font-size: 10px; } body { font-size: 1rem; margin: 0; max-width: none; }
  .wide { overflow: visible; } table { min-width: 0 !important; } tr { break-inside: avoid; } th { position: static; }
  th button { display: contents; } input:placeholder-shown { display: none; } }
"""

SCRIPT = """
"use strict";
const BODY = 40;  // rows of a body
const WHOLE = 400;  // if there are not more rows, all are always drawn: the browser's own search finds them
const sources = [...document.querySelectorAll("noscript.rows")]
  .map(source => [source, source.textContent.trim().split("\\n")]);
const isWhole = sources.reduce((count, [, lines]) => count + lines.length - 2, 0) <= WHOLE;
let height = 35;  // of a row in pixels, as far as is known
const compare = new Intl.Collator(undefined, {numeric: true}).compare;
const number = new Intl.NumberFormat("en").format;

// The text of pieces of markup; what was a tag is `gap`.
function plain(pieces, gap) {
  const area = document.createElement("textarea");  // where nothing but references is read
  area.innerHTML = "." + pieces.join("\\n").replace(/<[^>]*>/g, gap);  // a dot: a first line end may be dropped
  return area.value.slice(1).split("\\n");
}

function ranks(texts) {
  const rank = new Map([...new Set(texts)].sort(compare).map((text, k) => [text, k]));
  return texts.map(text => rank.get(text));
}

class Findings {
  constructor([source, lines], index) {
    const holder = source.parentElement;
    holder.replaceChildren(source);
    holder.insertAdjacentHTML("beforeend", lines[0] + lines.at(-1));
    this.rows = lines.slice(1, -1);
    this.table = holder.lastElementChild;
    this.table.tBodies[0].remove();
    this.heads = [...this.table.querySelectorAll("th")];
    this.field = holder.previousElementSibling.querySelector("input");
    this.output = holder.previousElementSibling.querySelector("output");
    this.keys = new Map();
    this.order = this.rows.map((_, k) => k);
    this.watch = new IntersectionObserver(seen => {
      for (const {target, isIntersecting} of seen) target.near = isIntersecting;
      this.clear();
      const place = this.anchor(), before = place();
      for (const {target} of seen) if (target.near) this.draw(target);
      scrollBy(0, place() - before);
    }, {rootMargin: "100% 0%"});
    this.heads.forEach((head, column) => {
      if (head.className === "picture") return;
      head.innerHTML = `<button type="button">${head.innerHTML}</button>`;
      head.firstChild.addEventListener("click", () => this.sort(head, column));
    });
    this.field.parentElement.hidden = false;
    this.field.addEventListener("input", () => this.lay(true));
    this.lay(isWhole || index === 0);
  }

  sort(head, column) {
    const up = head.getAttribute("aria-sort") !== "ascending";
    this.heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    if (!this.keys.has(column)) {
      const cells = this.rows.map(row => row.split("</td>", column + 1)[column]);
      this.keys.set(column, head.classList.contains("n") ?
        cells.map(cell => parseFloat(cell.match(/data-v="([^"]*)"/)[1])) : ranks(plain(cells, "")));
    }
    const key = this.keys.get(column), sign = up ? 1 : -1;  // rows without a number come last in both orders
    const none = k => Number.isNaN(key[k]);
    this.order = this.rows.map((_, k) => k);
    this.order.sort((p, q) => none(p) || none(q) ? none(p) - none(q) : sign * (key[p] - key[q]));
    this.lay(true);
    const top = this.table.getBoundingClientRect().top;
    if (top < 0) scrollBy(0, top);
  }

  lay(now) {  // now: the beginning is drawn at once, not when it is seen to be near
    const wanted = this.field.value.toLowerCase();
    if (wanted) this.texts ??= plain(this.rows, "\\t").map(text => text.toLowerCase());
    this.shown = wanted ? this.order.filter(k => this.texts[k].includes(wanted)) : this.order;
    this.output.textContent = !wanted ? "" : this.output.dataset.words
      .replace("{shown}", number(this.shown.length)).replace("{all}", number(this.rows.length));
    this.table.setAttribute("aria-rowcount", this.shown.length + 1);
    this.watch.disconnect();
    for (const body of [...this.table.tBodies]) body.remove();
    this.bodies = [];
    for (let first = 0; first < this.shown.length; first += BODY) {
      const body = document.createElement("tbody");
      body.first = first;
      body.rowsOf = this.shown.slice(first, first + BODY);
      this.bodies.push(body);
      if (isWhole) this.draw(body);
      else if (now && first === 0) {
        this.table.append(body);
        this.draw(body);
        height = body.getBoundingClientRect().height / body.rowsOf.length;
      } else this.leave(body, height * body.rowsOf.length);
    }
    this.table.append(...this.bodies);
    if (!isWhole) this.bodies.forEach(body => this.watch.observe(body));
  }

  draw(body) {
    if (body.drawn) return;
    body.drawn = true;
    body.removeAttribute("aria-hidden");
    body.innerHTML = body.rowsOf
      .map((k, place) => this.rows[k].replace("<tr", `<tr aria-rowindex="${body.first + place + 2}"`)).join("");
    body.querySelector(`[id="${CSS.escape(location.hash.slice(1))}"]`)?.classList.add("target");
  }

  anchor() {  // where that is which must not move when rows above it are drawn and turn out to be higher or lower
    const body = this.bodies.find(body => body.near && body.getBoundingClientRect().bottom > 0);
    return () => body ? body.getBoundingClientRect().top : this.table.getBoundingClientRect().bottom;
  }

  clear() {  // all that is far away; first all heights, as each one that is asked for after a change is a layout
    if (isWhole) return;
    const far = this.bodies.filter(body => body.drawn && !body.near && !body.contains(document.activeElement));
    const heights = far.map(body => body.getBoundingClientRect().height);
    far.forEach((body, k) => this.leave(body, heights[k]));
  }

  leave(body, space) {
    body.drawn = false;
    body.setAttribute("aria-hidden", "true");
    body.innerHTML = `<tr><td colspan="${this.heads.length}" style="height: ${space}px"></td></tr>`;
  }

  goTo(k) {
    let place = this.shown.indexOf(k);
    if (place < 0) {
      this.field.value = "";
      this.lay(true);
      place = this.shown.indexOf(k);
    }
    document.querySelector("tr.target")?.classList.remove("target");
    const body = this.bodies[Math.floor(place / BODY)];
    this.draw(body);
    const row = body.rows[place % BODY];
    row.classList.add("target");
    row.scrollIntoView({block: "center"});
  }
}

const tables = sources.map((source, index) => new Findings(source, index));

function goToLinked() {
  const [, table, row] = location.hash.match(/^#t(\\d+)-(\\d+)$/) ?? [];
  const findings = tables.find(({table: {id}}) => id === `t${table}`);
  if (findings && row < findings.rows.length) findings.goTo(Number(row));
}
addEventListener("hashchange", goToLinked);
goToLinked();

const large = document.querySelector("dialog");
large.addEventListener("click", () => large.close());
addEventListener("click", ({target}) => {
  const picture = target.closest("button.picture")?.firstChild;
  if (!picture) return;
  large.innerHTML = "<p></p>";
  large.firstChild.textContent = picture.alt;
  large.append(picture.cloneNode());
  large.showModal();
});

addEventListener("beforeprint", () => {
  for (const findings of tables) findings.bodies.forEach(body => findings.draw(body));
});
addEventListener("afterprint", () => {
  for (const findings of tables) findings.clear();
});

addEventListener("keydown", event => {  // the browser finds only what is drawn; pressed again, it is the browser's
  const {ctrlKey, metaKey, shiftKey, altKey, key} = event;
  if (isWhole || !(ctrlKey || metaKey) || shiftKey || altKey || key.toLowerCase() !== "f") return;
  const here = tables.findLast(({table}) => table.getBoundingClientRect().top < innerHeight / 2) ?? tables[0];
  if (document.activeElement === here.field) return;
  event.preventDefault();
  here.field.focus();
  here.field.select();
});
"""
