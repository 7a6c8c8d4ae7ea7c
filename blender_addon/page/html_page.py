# SPDX-License-Identifier: GPL-3.0-or-later
"""The style and the script of the page that `html_report` writes.

A browser without scripts shows each table as it is in its <noscript>, where a browser with scripts makes nothing of it
but text: a line for the beginning of the table, one for each row, one for its end. The script takes the rows from
there and draws those that are near the window, in bodies of `BODY` rows; the other bodies are empty and as high as
their rows would be. Sorting and searching change nothing but a list of numbers of rows. All markup comes from Python,
which has escaped what it is made of.
"""

from __future__ import annotations

BEGINNING = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="generator" content="Contact Lens">
"""
"""How a page begins."""

STYLE = """
:root { color-scheme: light dark; overflow-anchor: none; --line: #8884; --soft: #8881; --dim: #5f6368; --ink: #1a1a1a;
  --paper: #fff; --vermillion: #d55e00; --bad: #b04000; --orange: #e69f00; --teal: #009e94; --purple: #cc79a7;
  --mark: #fd03; }
@media (prefers-color-scheme: dark) { :root { --dim: #a0a4a8; --ink: #e8e8e8; --paper: #1c1c1e; --bad: #ff9650; } }
@media print { :root { color-scheme: light; --line: #bbb; --dim: #444; --ink: #000; --paper: #fff; --bad: #b04000; } }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 84rem; padding: 1.5rem 1rem 4rem;
  color: var(--ink); background: var(--paper); }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 1rem; } h2 { font-size: 1.25rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1.05rem; margin: 1.2rem 0 .4rem; } h1, h2, h3, p, li, dd { overflow-wrap: anywhere; }
.dim { color: var(--dim); } .partial { color: var(--bad); font-weight: 600; }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(30rem, 100%), 1fr)); gap: .15rem 1.5rem;
  margin: 0 0 1rem; padding: .7rem 1rem; border-radius: 8px; background: var(--soft); font-size: .93rem; }
.facts div { display: flex; gap: .6rem; } .facts .long { grid-column: 1 / -1; } dd { margin: 0; }
dt { color: var(--dim); flex: 0 0 5.2rem; }
.verdict { font-size: 1.15rem; display: flex; flex-wrap: wrap; gap: .2rem 1.4rem; margin: 1rem 0 .2rem; }
:is(.verdict, .since, h2, h3) + .dim { margin: 0 0 1rem; }
.since { font-weight: 600; margin: 0 0 .2rem; } .verdict > * { white-space: nowrap; }
.answer { margin: 0 0 1rem; padding-left: 1.2rem; }
section > h2 { margin-top: 1.5rem; } section > .verdict { font-size: 1rem; margin-top: 0; }
.unchecked, .between { border-left: 4px solid var(--line); padding: .1rem 0 .1rem .9rem; margin: 1rem 0; }
.unchecked { border-color: var(--bad); } .unchecked :is(h2, h3) { color: var(--bad); font-size: 1.05rem; margin: 0; }
.unchecked ul { margin: .2rem 0 0; padding-left: 1.2rem; }
.dot { display: inline-block; box-sizing: border-box; width: .8em; height: .8em; border-radius: 50%; flex: none;
  margin-right: .45em; border: .17em solid var(--tone); --tone: var(--dim); print-color-adjust: exact;
  -webkit-print-color-adjust: exact; }
.penetrating, .coincident { --tone: var(--vermillion); } .inside { --tone: var(--orange); }
.touching { --tone: var(--teal); } .within_clearance, .within_collision_margins { --tone: var(--purple); }
.dot.penetrating { background: var(--tone); }
.dot.coincident { background: radial-gradient(circle, var(--tone) 50%, #0000 55%); }
.dot.inside { background: radial-gradient(circle, var(--tone) 40%, #0000 45%); }
.dot.touching { background: linear-gradient(#0000 50%, var(--tone) 50%); }
.dot.within_clearance, .dot.within_collision_margins { border-width: .24em; }
.frames svg { display: block; width: 100%; max-width: 14rem; overflow: visible; font-size: 9px; fill: var(--dim); }
.frames .contact { fill: var(--tone); } .frames .gap { fill: var(--purple); } .frames .worst { fill: var(--ink); }
.frames details { margin: .2rem 0 0; font-size: .87rem; color: var(--dim); }
.frames ul { margin: .2rem 0 0; padding: 0; list-style: none; max-height: 14rem; overflow: auto; }
.controls { display: flex; flex-wrap: wrap; gap: .5rem .8rem; align-items: center; margin: .6rem 0; }
.controls[hidden] { display: none; }
input { font: inherit; padding: .35rem .6rem; width: 18rem; max-width: 100%; box-sizing: border-box; }
.chips { display: flex; flex-wrap: wrap; gap: .35rem; align-items: baseline; } .chips .dim { font-size: .9rem; }
.controls button { font: inherit; font-size: .9rem; padding: .25rem .7rem; border-radius: 1rem; cursor: pointer;
  color: inherit; background: none; border: 1px solid var(--line); }
.controls button:hover { background: var(--soft); } .controls button span { color: var(--dim); }
.controls button[aria-pressed=true] { background: var(--ink); color: var(--paper); border-color: var(--ink); }
.controls button[aria-pressed=true] span { color: inherit; }
output { color: var(--dim); }
:is(input, button, summary):focus-visible { outline: 2px solid #3b8eea; outline-offset: 2px; }
table { border-collapse: separate; border-spacing: 0; width: 100%; table-layout: fixed; }
caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
th, td { text-align: left; padding: .5rem .6rem; vertical-align: top; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere; font-weight: inherit; }
thead { position: sticky; top: 0; z-index: 1; background: var(--paper); }
thead th { border-bottom-width: 2px; font-weight: 600; vertical-align: bottom; overflow-wrap: normal; }
.n { text-align: right; } td.n { font-variant-numeric: tabular-nums; overflow-wrap: normal; }
td.n:not([data-v=""]) { white-space: nowrap; }
col.relation { width: 10.5rem; } col.depth { width: 10.5rem; } col.area { width: 7.5rem; }
col.overlap_volume { width: 8rem; }
col.status { width: 8.5rem; } col.picture { width: 25.3rem; }
.over col.relation { width: 9rem; } .over col.status { width: 6.5rem; } col.frames { width: 14rem; }
.over col.picture { width: 19.3rem; } tbody p.over { color: inherit; }
.a, .b { font-weight: 600; padding-left: 1.7em; } .b { margin-top: .15rem; }
.a::before, .b::before { content: "A" / "A "; float: left; margin-left: -1.95em; width: 1.5em; font-size: .8em;
  line-height: 1.5; margin-top: .12em; text-align: center; border-radius: 3px; background: #56b4e9; color: #000;
  print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.b::before { content: "B" / "B "; background: #f0e442; }
tbody p { margin: .35rem 0 0; font-size: .87rem; color: var(--dim); } tbody th p.partial { color: var(--bad); }
thead button { all: unset; cursor: pointer; } thead button:hover { text-decoration: underline; }
th[aria-sort=ascending] button::after { content: "\\00a0\\25B2" / ""; }
th[aria-sort=descending] button::after { content: "\\00a0\\25BC" / ""; }
tbody[aria-hidden] td { padding: 0; border: 0; }
tr.group th { font-weight: 600; padding: 1rem .6rem .4rem; border-bottom: 2px solid var(--line); }
tr.group span { color: var(--dim); font-weight: 400; }
tr.target { background: var(--mark); scroll-margin: 4rem; }
tr:is(.resolved, .approved, .outdated) > * { color: var(--dim); }
tr:is(.resolved, .approved, .outdated) img { opacity: .6; }
img { width: 24rem; max-width: 100%; aspect-ratio: auto 8 / 5; border-radius: 6px; display: block; }
button.picture { all: unset; cursor: zoom-in; display: block; }
button.picture:focus-visible { outline: 2px solid #3b8eea; outline-offset: 2px; }
dialog { border: 1px solid var(--line); border-radius: 8px; padding: 1rem; cursor: zoom-out; max-width: 96vw;
  color: var(--ink); background: var(--paper); }
dialog::backdrop { background: #000a; } dialog p { margin: 0 4.5rem .8rem 0; }
dialog button { position: absolute; top: .8rem; right: 1rem; font: inherit; font-size: .9rem; }
dialog img { width: min(960px, 90vw, 135vh); }
.blocked { animation: late 0s 2s both; } @keyframes late { from { visibility: hidden; } }
details { margin: .8rem 0; } summary { cursor: pointer; }
@media (max-width: 84rem) { col.picture { width: 19.3rem; } .over col.picture { width: 15rem; } }
@media (max-width: 72rem) { col.picture { width: 13rem; } .over col.picture { width: 11rem; } }
@media screen and (max-width: 60rem) {
  input { width: 100%; } table, thead, tbody { display: block; }
  thead { position: static; } thead th { border: 0; } thead tr { display: flex; flex-wrap: wrap; gap: 0 1rem; }
  thead th { padding: .3rem 0; } thead .picture { display: none; }
  tbody tr { display: grid; grid-template-columns: 1fr auto; max-width: 30rem; padding: .6rem 0;
    border-bottom: 1px solid var(--line); }
  tbody :is(th, td) { padding: .1rem 0; border: 0; min-width: 0; } tbody tr th { grid-column: 1 / -1; }
  tbody td:nth-child(4) { grid-column: 2; } tbody td:nth-child(5) { grid-column: 1; grid-row: 3; }
  tbody :is(td:nth-child(6), td.frames) { grid-column: 1 / -1; grid-row: auto; } img { width: 30rem; }
  tbody[aria-hidden] td { grid-column: 1 / -1; }
}
@media print { @page { margin: 12mm; } :root { font-size: 11px; } body { font-size: 1rem; max-width: none; padding: 0; }
  thead { display: table-header-group; position: static; background: none; }
  thead button { display: contents; } th button::after { content: none !important; }
  tr, .facts, .unchecked li { break-inside: avoid; } h2, h3, tr.group { break-after: avoid; }
  section > :has(~ .wide) { break-after: avoid; } tbody:first-of-type > tr:first-child { break-before: avoid; }
  .controls button, .chips .dim, input:placeholder-shown, output:empty, dialog { display: none; }
  col.relation { width: 17%; } col.depth { width: 15%; } col.area { width: 12%; }
  col.overlap_volume { width: 12%; } col.status { width: 9%; }
  col.picture { width: 30%; } .over :is(col.frames, col.picture) { width: 20%; }
  img { width: 100%; } }
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

function names(row) {  // as markup
  return row.match(/<div class="a">(.*?)<\\/div><div class="b">(.*?)<\\/div>/).slice(1);
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
    this.controls = holder.previousElementSibling;
    this.field = this.controls.querySelector("input");
    this.output = this.controls.querySelector("output");
    // Of each row its relation, its status and its change, as numbers of the buttons.
    this.kinds = this.rows.map(row => row.match(/data-of="(\\d+) (\\d+) (\\d+)"/).slice(1).map(Number));
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
      if (head.classList.contains("picture")) return;
      head.innerHTML = `<button type="button">${head.innerHTML}</button>`;
      head.firstChild.addEventListener("click", () => this.sort(head, column));
    });
    this.controls.hidden = this.rows.length < 2;
    this.field.addEventListener("input", () => this.lay(true));
    this.controls.addEventListener("click", ({target}) => {
      const button = target.closest("button");
      if (!button) return;
      button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true");
      this.lay(true);
    });
    this.lay(isWhole || index === 0);
  }

  sort(head, column) {
    const up = head.getAttribute("aria-sort") !== "ascending";
    this.heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    if (!this.keys.has(column)) this.keys.set(column, this.keysOf(head.classList, column));
    const key = this.keys.get(column), sign = up ? 1 : -1;  // rows without a number come last in both orders
    const none = k => Number.isNaN(key[k]);
    this.order = this.rows.map((_, k) => k);
    this.order.sort((p, q) => none(p) || none(q) ? none(p) - none(q) : sign * (key[p] - key[q]));
    this.lay(true);
    const top = this.table.getBoundingClientRect().top;
    if (top < 0) scrollBy(0, top);
  }

  keysOf(kinds, column) {
    if (kinds.contains("relation")) return this.kinds.map(kind => kind[0]);
    if (kinds.contains("status")) return this.kinds.map(kind => kind[1]);
    if (kinds.contains("objects")) return ranks(plain(this.rows.map(row => names(row).join("\\t")), ""));
    const cells = this.rows.map(row => row.split("</td>", column)[column - 1]);  // the first cell is a <th>
    return cells.map(cell => parseFloat(cell.match(/data-v="([^"]*)"/)[1]));
  }

  pressed(letter) {  // the relations, statuses or changes that are wanted; all if none is
    const buttons = [...this.controls.querySelectorAll(`[data-of^=${letter}]`)];
    const wanted = buttons.filter(button => button.getAttribute("aria-pressed") === "true");
    return new Set((wanted.length ? wanted : buttons).map(button => Number(button.dataset.of.slice(1))));
  }

  lay(now) {  // now: the beginning is drawn at once, not when it is seen to be near
    const wanted = this.field.value.toLowerCase();
    if (wanted) this.texts ??= plain(this.rows, "\\t").map(text => text.toLowerCase());
    const pressed = ["r", "s", "c"].map(letter => this.pressed(letter));
    const isShown = k => pressed.every((kinds, place) => !kinds.size || kinds.has(this.kinds[k][place])) &&
      (!wanted || this.texts[k].includes(wanted));
    this.shown = this.order.filter(isShown);
    this.output.textContent = this.shown.length === this.rows.length ? "" : this.output.dataset.words
      .replace("{shown}", number(this.shown.length)).replace("{all}", number(this.rows.length));
    if (this.controls.querySelector(".grouping").getAttribute("aria-pressed") === "true") this.group();
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
        const heights = [...body.rows].map(row => row.offsetHeight).sort((p, q) => p - q);
        height = heights[heights.length >> 2];  // most rows have no picture
      } else this.leave(body, height * body.rowsOf.length);
    }
    this.table.append(...this.bodies);
    if (!isWhole) this.bodies.forEach(body => this.watch.observe(body));
  }

  group() {  // a heading before the clashes of each object; a clash is one of its object that is in more of them
    const counts = new Map(), groups = new Map();
    for (const k of this.shown) for (const name of names(this.rows[k])) counts.set(name, (counts.get(name) ?? 0) + 1);
    for (const k of this.shown) {
      const [a, b] = names(this.rows[k]);
      const leader = counts.get(a) - counts.get(b) || (a < b ? 1 : -1);
      const name = leader > 0 ? a : b;
      groups.has(name) ? groups.get(name).push(k) : groups.set(name, [k]);
    }
    const sorted = [...groups].sort(([, p], [, q]) => q.length - p.length);
    const head = `<tr class="group"><th scope="rowgroup" colspan="${this.heads.length}">`;
    this.shown = sorted.flatMap(([name, rows]) =>
      [`${head}${name} <span>${number(rows.length)}</span></th></tr>`, ...rows]);
  }

  draw(body) {
    if (body.drawn) return;
    body.drawn = true;
    body.removeAttribute("aria-hidden");
    body.innerHTML = body.rowsOf
      .map((k, place) => (this.rows[k] ?? k).replace("<tr", `<tr aria-rowindex="${body.first + place + 2}"`)).join("");
    body.querySelector(`[id="${CSS.escape(location.hash.slice(1))}"]`)?.classList.add("target");
  }

  anchor() {  // where that is which must not move when rows above it are drawn and turn out to be higher or lower
    const linked = document.querySelector("tr.target"), box = linked?.getBoundingClientRect();
    if (box && box.bottom > 0 && box.top < innerHeight) return () => linked.getBoundingClientRect().top;
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
      for (const button of this.controls.querySelectorAll("[data-of]")) button.setAttribute("aria-pressed", false);
      this.lay(true);
      place = this.shown.indexOf(k);
    }
    document.querySelector("tr.target")?.classList.remove("target");
    this.table.closest("details")?.setAttribute("open", "");
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
  large.querySelector("img")?.remove();
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
  const seen = tables.filter(({table}) => !table.closest("details:not([open])"));
  const here = seen.findLast(({table}) => table.getBoundingClientRect().top < innerHeight / 2) ?? seen[0];
  if (document.activeElement === here.field) return;
  event.preventDefault();
  here.field.focus();
  here.field.select();
});
"""
