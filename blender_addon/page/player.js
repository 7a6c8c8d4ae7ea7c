"use strict";
// Makes a player of every <figure class="player"> from the JSON in it, which player_page.py writes: canvases that turn,
// buttons, a plot and questions. Texts are data and may contain anything: they become text, never markup.

const EYE = 5;  // distance of the eye from the middle of a space, relative to its size: a mild perspective
const REACH = 24;  // pixels within which a click means a choice
const MANY = 16;  // choices above which their labels would cover the picture
const FAINT = 0.28;  // opacity of lines behind faces
const LIGHT = unit([-0.45, 0.65, 0.6]);  // to the right, up, toward the viewer
const SCREEN = {ground: "#26262a", text: "#f4f4f6", dim: "#b6bac4", line: "#5c5e66", lit: "#3d3f47", ink: same => same};
const PAPER = {ground: "#ffffff", text: "#000000", dim: "#444444", line: "#b0b0b0", lit: "#e4e4e8", ink: darkened};
const CORNERS = {  // of marks
  square: [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]], triangle: [[0, -1.1], [1, 0.75], [-1, 0.75]],
  diamond: [[0, -1.1], [1.1, 0], [0, 1.1], [-1.1, 0]], cross: [[-1, -1], [1, 1], [0, 0], [-1, 1], [1, -1], [0, 0]]};
const LAYOUT = `<div class="views"></div>
<div class="controls">${["First", "Back", "Play", "Forward", "Last"].map(name =>
  `<button type="button" class="${name.toLowerCase()}" aria-label="${name}"></button>`).join("")}
<input type="range" min="0" aria-label="Step"><button type="button" class="guess">Guess</button><output></output></div>
<div class="below"><div><div class="words" aria-live="polite"><b></b><p></p><p class="verdict"></p></div>
<div class="question"><select aria-label="Your choice"></select><button type="button" class="answer">Answer</button>
<button type="button" class="next">Next</button></div></div><canvas class="plot" role="img"></canvas></div>
<p class="help">Drag turns, Ctrl and wheel or two fingers zoom, a double click resets: on a view also arrow keys, +, -
and 0. Left and Right step, with Shift to the ends.</p><details><summary>All Steps</summary></details>`;

function dot(p, q) { return p[0] * q[0] + p[1] * q[1] + p[2] * q[2]; }
function cross(p, q) { return [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]; }
function combined(p, s, q, t) { return p.map((part, k) => s * part + t * q[k]); }
function unit(p) { return p.map(part => part / (Math.hypot(...p) || 1)); }
function apart(p, q) { return Math.hypot(p[0] - q[0], p[1] - q[1]); }
function clamped(value, low, high) { return Math.min(Math.max(value, low), high); }
function split(numbers, size) { return numbers.flatMap((_, k) => k % size ? [] : [numbers.slice(k, k + size)]); }
function scaled(color, factor) {
  return "#" + channels(color).map(part => Math.round(part * factor).toString(16).padStart(2, "0")).join("");
}
function channels(color) { return [1, 3, 5].map(k => parseInt(color.slice(k, k + 2), 16)); }
function darkened(color) {  // to be seen on white, where white becomes nearly black
  const light = dot(channels(color), [0.3, 0.59, 0.11]);
  return scaled(color, light > 240 ? 0.15 : Math.min(1, 110 / light));
}
function pathOf(points) {
  const path = new Path2D();
  for (const [x, y] of points) path.lineTo(x, y);
  return path;
}
function shortened(text, most) { return text.length > most ? [...text].slice(0, most - 1).join("") + "…" : text; }
function element(name, attributes) { return Object.assign(document.createElement(name), attributes); }

// From where all spaces of a player are seen: like Blender's turntable, its axis stays upright.
class Turntable {
  constructor(toward, up) {
    Object.assign(this, {axis: unit(up), yaw: 0, zoom: 1});
    this.first = this.pitch = Math.asin(clamped(dot(unit(toward), this.axis), -1, 1));
    this.level = unit(combined(toward, 1, this.axis, -dot(toward, this.axis)));
    this.turn();
  }
  turn(yaw = -this.yaw, pitch = this.first - this.pitch, zoom = 1 / this.zoom) {  // by nothing: as at first
    this.yaw += yaw;
    this.pitch = clamped(this.pitch + pitch, -Math.PI / 2, Math.PI / 2);
    this.zoom = clamped(this.zoom * zoom, 0.5, 12);
    const ahead = combined(this.level, Math.cos(this.yaw), cross(this.axis, this.level), Math.sin(this.yaw));
    this.toward = combined(ahead, Math.cos(this.pitch), this.axis, Math.sin(this.pitch));
    this.right = cross(this.axis, ahead);
    this.up = cross(this.toward, this.right);
    this.changed?.();
  }
  seen(point) {  // to the right, up, and nearness, which is 1 in the middle; what is flat stays flat in all three
    const nearness = EYE / (EYE - dot(point, this.toward));
    return [dot(point, this.right) * nearness, dot(point, this.up) * nearness, nearness];
  }
}

// A picture with points instead of numbers, and with faces: between triangles of one plane are no seams.
function prepared(picture) {
  const {fills, lines, points, labels} = picture || {fills: [], lines: [], points: [], labels: []}, faces = [];
  for (const [role, opacity, numbers] of fills) for (const corners of split(split(numbers, 3), 3)) {
    const [p, q, r] = corners, normal = unit(cross(combined(q, 1, p, -1), combined(r, 1, p, -1))), last = faces.at(-1);
    const isFlat = last?.role === role && dot(last.normal, normal) > 0.9995 &&
      Math.abs(dot(normal, p) - last.height) < 1e-3;
    isFlat ? last.corners.push(...corners) : faces.push({role, opacity, normal, height: dot(normal, p), corners});
  }
  const segments = lines.map(([role, width, isDashed, isArrow, numbers]) =>
    ({role, width, isDashed, isArrow, ends: split(split(numbers, 3), 2)}));
  const marks = points.flatMap(([role, numbers]) => split(numbers, 3).map(point => ({role, point})));
  const all = [...faces.flatMap(face => face.corners), ...segments.flatMap(line => line.ends.flat()),
    ...marks.map(mark => mark.point), ...labels.map(label => label[2])];
  return {faces, segments, marks, labels, all: Object.values(Object.fromEntries(all.map(point => [point, point])))};
}

function isBehind([x, y, nearness], [p, q, r]) {  // a point of the picture behind a triangle
  const [qx, qy, rx, ry] = [q[0] - p[0], q[1] - p[1], r[0] - p[0], r[1] - p[1]], area = qx * ry - qy * rx || Infinity;
  const s = ((x - p[0]) * ry - (y - p[1]) * rx) / area, t = (qx * (y - p[1]) - qy * (x - p[0])) / area;
  return s >= 0 && t >= 0 && s + t <= 1 && p[2] + s * (q[2] - p[2]) + t * (r[2] - p[2]) > nearness + 1e-3;
}

// Draws on a canvas, in CSS pixels.
class Drawing {
  constructor(canvas, width, height, ratio, tone, roles) {
    Object.assign(canvas, {width: width * ratio, height: height * ratio});
    Object.assign(this, {context: canvas.getContext("2d"), width, height, tone, roles, boxes: [], busy: []});
    this.context.scale(ratio, ratio);
    this.set({fillStyle: tone.ground, lineCap: "round", lineJoin: "round"}).fillRect(0, 0, width, height);
  }
  set(state) { return Object.assign(this.context, state); }
  aim(turntable, points) {  // so that all points are seen
    const seen = points.map(point => turntable.seen(point)), [right, up] = [0, 1].map(k => seen.map(place => place[k]));
    const [low, high] = [Math.min, Math.max].map(most => [most(...right), most(...up)]), {width, height} = this;
    const scale = turntable.zoom * Math.min((width - 40) / (high[0] - low[0]), (height - 64) / (high[1] - low[1]), 1e4);
    this.axes = [turntable.right, turntable.up, turntable.toward];
    this.place = point => {
      const [x, y, nearness] = combined(turntable.seen(point), 1, [low[0] + high[0], low[1] + high[1], 0], -0.5);
      return [width / 2 + scale * x, height / 2 + 10 - scale * y, nearness];
    };
  }
  picture(behind, subject) {
    this.faces([...behind.faces, ...subject.faces]);
    for (const picture of [behind, subject]) {
      const covers = picture.faces.flatMap(face => split(face.corners.map(this.place), 3));
      for (const line of picture.segments) this.lines(line, picture === subject, covers);
    }
    for (const {role, point} of [...behind.marks, ...subject.marks]) this.mark(this.roles[role], this.place(point));
  }
  faces(faces) {  // the farthest first
    const placed = faces.map(face => ({...face, corners: face.corners.map(this.place)}));
    for (const face of placed) face.nearness = face.corners.reduce((total, p) => total + p[2], 0) / face.corners.length;
    for (const {role, opacity, normal, corners} of placed.sort((p, q) => p.nearness - q.nearness)) {
      const {fill, color, hatch} = this.roles[role], path = new Path2D(), seen = this.axes.map(p => dot(p, normal));
      const light = Math.max(0, dot(LIGHT, seen) * Math.sign(seen[2]));  // both sides are seen
      corners.forEach(([x, y], k) => k % 3 ? path.lineTo(x, y) : path.moveTo(x, y));
      this.fill(path, scaled(this.tone.ink(color), 0.6 + 0.4 * light), Math.min(1, fill * opacity), hatch);
    }
  }
  fill(path, ink, alpha, hatch) {  // the hatch falls to the right where its period is negative
    this.context.save();
    this.set({globalAlpha: hatch ? 0.4 * alpha : alpha, fillStyle: ink}).fill(path);
    this.set({globalAlpha: alpha, strokeStyle: ink, lineWidth: 0.3 * Math.abs(hatch)}).clip(path);
    for (let x = -this.height; hatch && x < this.width + this.height; x += Math.abs(hatch) * Math.SQRT2)
      this.stroke([x, 0], [x - Math.sign(hatch) * this.height, this.height]);
    this.context.restore();
  }
  stroke(...points) { this.context.stroke(pathOf(points)); }
  lines({role, width: relative, isDashed, isArrow, ends}, isSubject, covers) {
    const form = this.roles[role], width = form.width * relative, ink = this.tone.ink(form.color), {context} = this;
    const [seen, hidden, heads] = [0, 1, 2].map(() => new Path2D()), isMuch = ends.length * covers.length > 5e4;
    for (const [start, end] of ends.map(points => points.map(this.place))) {
      const along = combined(end, 1, start, -1), length = Math.hypot(along[0], along[1]) || 1;
      const head = isArrow ? Math.min(7.5 * width, length / 2) : 0, count = isMuch ? 1 : clamped(length / 9 | 0, 1, 60);
      const at = piece => combined(start, 1, along, (1 - 0.8 * head / length) * piece / count);
      for (let k = 0; k < count; k++) {
        const [from, middle, to] = [k, k + 0.5, k + 1].map(at);
        const path = covers.some(cover => isBehind(middle, cover)) ? hidden : seen;
        if (!path.end || apart(from, path.end) > 0.3) path.moveTo(from[0], from[1]);  // else dashes and joins go on
        path.lineTo(to[0], to[1]);
        path.end = to;
        if (isSubject || k % 3 === 0) this.busy.push(from);
      }
      const [x, y] = combined(end, 1, along, -head / length), [a, b] = along.map(part => 0.36 * head * part / length);
      if (head) heads.addPath(pathOf([[x - b, y + a], end, [x + b, y - a]]));
    }
    const rim = {globalAlpha: 0.55, strokeStyle: this.tone.ground, lineWidth: width + 2.5};
    if (isSubject && !isDashed) for (const path of [seen, heads]) this.set(rim).stroke(path);  // off what it crosses
    const period = Math.max(11, 5 * width), {opacity} = form;
    if (isDashed || form.dashed) context.setLineDash([0.6 * period - width, 0.4 * period + width]);
    this.set({strokeStyle: ink, lineWidth: width, globalAlpha: opacity * FAINT * (isSubject ? 2 : 1)}).stroke(hidden);
    this.set({fillStyle: ink, globalAlpha: opacity}).stroke(seen);
    context.fill(heads);
    context.setLineDash([]);
    context.globalAlpha = 1;
  }
  mark({mark, size, color}, [x, y], ink = this.tone.ink(color)) {
    const path = pathOf((CORNERS[mark] ?? []).map(([right, down]) => [x + right * size / 2, y + down * size / 2]));
    const isLine = mark === "cross" || mark === "ring";
    if (!CORNERS[mark]) path.arc(x, y, size / 2, 0, 2 * Math.PI);
    path.closePath();
    this.set({strokeStyle: this.tone.ground, lineWidth: 3 + (isLine ? 0.15 * size : 0)}).stroke(path);
    this.set({strokeStyle: ink, fillStyle: ink, lineWidth: 0.15 * size})[isLine ? "stroke" : "fill"](path);
    if (mark === "ring") this.mark({mark: "disc", size: 0.35 * size}, [x, y], ink);
    this.busy.push([x, y], [x, y], [x, y]);
  }
  write(text, x, y, color = this.tone.text, align = "left") {
    this.set({font: "12px system-ui, sans-serif", textAlign: align, textBaseline: "middle", fillStyle: color});
    this.set({strokeStyle: this.tone.ground, lineWidth: 4}).strokeText(text, x, y);
    this.context.fillText(text, x, y);
    return this.context.measureText(text).width;
  }
  label([role, text, point]) {  // beside its point, rather away from the middle, and not over others
    const [x, y] = this.place(point), {width, height} = this, outward = Math.atan2(y - height / 2, x - width / 2);
    if (x < 0 || y < 0 || x > width || y > height) return;
    const words = shortened(text, width / 13), long = this.write(words, -1e4, 0) + 6;
    let best = {cost: Infinity};
    for (const distance of [10, 20, 34, 52]) for (let turn = 0; turn < 2 * Math.PI; turn += Math.PI / 8) {
      const left = clamped(x + Math.cos(outward + turn) * (distance + long / 2) - long / 2, 4, width - long - 4);
      const top = clamped(y + Math.sin(outward + turn) * (distance + 8) - 8, 4, height - 20);
      const covered = this.busy.filter(([p, q]) => p > left - 4 && p < left + long + 4 && q > top - 4 && q < top + 20);
      const near = this.boxes.filter(box => box[0] < left + long && box[2] > left && box[1] < top + 16 && box[3] > top);
      const cost = 400 * near.length + 7 * covered.length + distance + 8 * (1 - Math.cos(turn));
      if (cost < best.cost) best = {cost, left, top};
    }
    const {left, top} = best;
    this.boxes.push([left, top, left + long, top + 16]);
    this.set({strokeStyle: this.tone.ink(this.roles[role].color), lineWidth: 1});
    this.stroke([x, y], [clamped(x, left + 3, left + long - 3), clamped(y, top + 2, top + 14)]);
    this.write(words, left + long / 2, top + 8, this.tone.text, "center");
  }
  // What an algorithm knows after each of its steps: of SAT a bar for every axis, overlaps up and gaps down.
  bars(bars, step) {
    const [above, below] = [-1, 1].map(sign => Math.max(0, ...bars.map(bar => sign * bar[0])));
    const size = (this.height - (below ? 58 : 46)) / (above + below || 1), base = 36 + above * size;
    bars.forEach(([distance, isBest, isCurrent], k) => {
      const x = 12 + k * step, isGap = distance > 0, sign = isGap ? 1 : -1, path = new Path2D();
      const length = sign * Math.max(2, Math.abs(distance * size)), {color} = this.roles[isGap ? "gap" : "overlap"];
      if (isCurrent) this.set({fillStyle: this.tone.lit}).fillRect(x, 30, step, this.height - 34);
      path.rect(x + 0.14 * step, base, 0.72 * step, length);
      this.fill(path, this.tone.ink(color), isBest || isCurrent ? 1 : 0.65, isGap ? -4 : 0);
      if (isBest) this.mark({mark: "diamond", size: 9}, [x + step / 2, base + length + sign * 7], this.tone.text);
    });
    this.set({strokeStyle: this.tone.dim, lineWidth: 1});
    this.stroke([12, base], [12 + bars.length * step, base]);
    this.write(`best: ${bars.find(bar => bar[1])?.[4] ?? "none"}`, 12, 14, this.tone.dim);
  }
  // Of others both bounds, which close: the lower one solid, the upper one dashed.
  bounds(frames, number) {
    const known = frames.flatMap(frame => [frame.lower, frame.upper]).filter(value => value !== null), {height} = this;
    const low = Math.min(...known), high = Math.max(...known), texts = frames[number].boundTexts, places = [];
    const room = Math.max(...frames.flatMap(frame => frame.boundTexts).map(text => this.write(text, -1e4, 0))) + 24;
    const x = k => 12 + k * (this.width - 12 - room) / frames.length;
    const y = value => high > low ? 14 + (height - 28) * (high - value) / (high - low) : height / 2;
    this.set({fillStyle: this.tone.lit}).fillRect(x(number), 4, x(1) - x(0), height - 8);
    this.set({strokeStyle: this.tone.line, lineWidth: 1});
    for (const value of [low, high, clamped(0, low, high)]) this.stroke([x(0), y(value)], [x(frames.length), y(value)]);
    for (const [name, role, dash, mark] of [["lower", "simplex", [], "disc"], ["upper", "support", [5, 4], "square"]]) {
      const ends = (frame, k) => frame[name] === null ? [] : [[x(k), y(frame[name])], [x(k + 1), y(frame[name])]];
      const ink = this.tone.ink(this.roles[role].color), reached = frames.slice(0, number + 1).flatMap(ends).at(-1);
      this.context.setLineDash(dash);
      this.set({strokeStyle: ink, lineWidth: 2});
      this.stroke(...frames.flatMap(ends));
      this.context.setLineDash([]);
      if (reached) this.mark({mark, size: 7}, [x(number + 0.5), reached[1]], ink);
      places.push(reached?.[1]);
    }
    const middle = clamped((places[0] + places[1]) / 2, 20, height - 20);
    if (places[0] - places[1] < 16) places.splice(0, 2, middle + 8, middle - 8);  // the texts are not on one another
    texts.forEach((text, k) => this.write(text, x(frames.length) + 8, places[k]));
  }
}

class Player {
  constructor(figure) {
    this.data = JSON.parse(figure.querySelector("script").textContent);
    const {spaces, frames, toward, up} = this.data, list = figure.querySelector("ol.all"), last = frames.length - 1;
    figure.insertAdjacentHTML("beforeend", LAYOUT);
    this.part = selector => figure.querySelector(selector);
    Object.assign(this, {figure, turntable: new Turntable(toward, up), seen: new Set(), plot: this.part(".plot")});
    this.behind = spaces.map(space => prepared(space.behind));
    this.pictures = frames.map(frame => frame.pictures.map(prepared));
    this.extents = spaces.map((_, k) => [this.behind, ...this.pictures].flatMap(pictures => pictures[k].all));
    this.views = spaces.map((_, k) => this.view(k));
    this.part(".views").append(...this.views);
    this.part("details").append(list);
    this.part(".guess").hidden = !frames.some(frame => frame.guess);
    this.turntable.changed = () => this.draw();
    figure.tabIndex = -1;
    const acts = {
      first: () => this.show(0), back: () => this.show(this.number - 1), play: () => this.play(!this.timer),
      forward: () => this.forward(), next: () => this.forward(), last: () => this.show(last), guess: () => this.ask(),
      answer: () => this.choose(this.part("select").selectedIndex - 1),
    };
    figure.addEventListener("click", ({target}) => acts[target.closest("button")?.className]?.());
    list.addEventListener("click", ({target}) => this.show([...list.children].indexOf(target.closest("li"))));
    this.part("input").addEventListener("input", ({target}) => this.show(Number(target.value)));
    this.plot.addEventListener("click", ({offsetX}) =>
      this.show(frames[this.number].bars[Math.floor((offsetX - 12) / this.step)]?.[3]));
    this.show(0);
    new ResizeObserver(() => this.draw()).observe(this.part(".views"));
  }
  view(k) {
    const canvas = element("canvas", {tabIndex: 0, role: "img"}), fingers = new Map();
    let path = 0, before;  // length of that of the pointer, where a click has none; the turntable before it
    const on = (name, act) => canvas.addEventListener(name, act);
    on("mousedown", event => event.preventDefault());  // or keys were for the view
    on("pointerdown", ({button, pointerId, offsetX, offsetY}) => {
      this.figure.focus({preventScroll: true});
      path = fingers.size || button ? Infinity : 0;
      before = {...this.turntable};
      if (!button) fingers.set(pointerId, [offsetX, offsetY]);
      canvas.setPointerCapture(pointerId);
    });
    on("pointermove", ({pointerId, offsetX, offsetY}) => {
      const last = fingers.get(pointerId), now = [offsetX, offsetY];
      if (!last || (path += apart(now, last)) <= 4) return;
      fingers.set(pointerId, now);
      const other = [...fingers].find(([id]) => id !== pointerId)?.[1];
      const zoom = other ? apart(now, other) / (apart(last, other) || 1) : 1;
      this.turntable.turn((last[0] - now[0]) / 120, (now[1] - last[1]) / 120, zoom);
    });
    for (const name of ["pointerup", "pointercancel"]) on(name, event => fingers.delete(event.pointerId));
    on("pointercancel", () => Object.assign(this.turntable, before).turn(0, 0, 1));  // the finger scrolls the page
    on("click", ({offsetX, offsetY}) => {
      if (path > 4 || this.question?.space !== k) return;
      const distances = this.places.map(place => apart(place, [offsetX, offsetY])), least = Math.min(...distances);
      if (least <= REACH) this.choose(distances.indexOf(least));
    });
    on("dblclick", () => this.turntable.turn());
    on("wheel", event => {
      if (event.ctrlKey) event.preventDefault();
      if (event.ctrlKey) this.turntable.turn(0, 0, Math.exp(-event.deltaY / 300));
    });
    return canvas;
  }
  key(event) {
    const {key, target, shiftKey, ctrlKey, altKey, metaKey} = event, last = this.data.frames.length - 1;
    if (ctrlKey || altKey || metaKey || target.matches("select, textarea, input:not([type=range])")) return;
    const turns = {ArrowLeft: [0.15, 0, 1], ArrowRight: [-0.15, 0, 1], ArrowUp: [0, 0.15, 1], ArrowDown: [0, -0.15, 1],
      "+": [0, 0, 1.2], "-": [0, 0, 1 / 1.2], 0: []};
    if (turns[key] && !shiftKey && target.matches("canvas")) this.turntable.turn(...turns[key]);
    else if (key === "ArrowLeft") this.show(shiftKey ? 0 : this.number - 1);
    else if (key === "ArrowRight") shiftKey ? this.show(last) : this.forward();
    else if ((key === "Home" || key === "End") && this.figure.contains(target)) this.show(key === "Home" ? 0 : last);
    else return;
    event.preventDefault();
  }
  show(number) {  // or its question first
    const frame = this.data.frames[number], isNew = this.isGuessing && !this.seen.has(number);
    if (!frame) return;
    Object.assign(this, {number, choice: -1, question: isNew && frame.guess || null});
    if (!this.question) this.seen.add(number);
    this.part("select").replaceChildren(...[["None"], ...frame.guess?.choices ?? []].map(([text]) => new Option(text)));
    this.update();
  }
  forward() {
    if (this.question) this.seen.add(this.number);
    if (document.activeElement?.closest(".question")) this.part(".forward").focus({preventScroll: true});
    this.show(this.question ? this.number : this.number + 1);
  }
  play(isOn) {
    const isAtEnd = () => this.number === this.data.frames.length - 1, {length} = this.part(".words").textContent;
    clearTimeout(this.timer);
    if (isOn && !this.timer && isAtEnd()) this.show(0);
    const step = () => this.play(this.forward() || !this.question && !isAtEnd());
    this.timer = isOn && setTimeout(step, clamped(1200 + 25 * length, 2500, 6000));
    this.update();
  }
  ask() {  // or stop asking; what has been seen is asked again
    Object.assign(this, {isGuessing: !this.isGuessing, tries: 0, hits: 0, seen: new Set()});
    this.play(false);
    this.show(this.number);
  }
  choose(choice) {
    if (this.choice >= 0 || choice < 0) return;
    Object.assign(this, {choice, tries: this.tries + 1, hits: this.hits + this.question.right.includes(choice)});
    this.seen.add(this.number);
    this.update();
    this.part(".next").focus({preventScroll: true});
  }
  update() {
    const {question, choice, number, data, part} = this, frame = data.frames[number], last = data.frames.length - 1;
    const sentence = question?.question ?? frame.sentence;
    const answer = choice < 0 ? "" : `${question.right.includes(choice) ? "Right." : "Not right."} ${question.answer}`;
    for (const [name, textContent] of [["b", frame.title], ["p", sentence], [".verdict", answer]])
      if (part(`.words ${name}`).textContent !== textContent) part(`.words ${name}`).textContent = textContent;
    part("output").textContent = this.tries ? `${this.hits} of ${this.tries} right` : "";
    Object.assign(part("input"), {max: last, value: number, ariaValueText: frame.title});
    part(".guess").ariaPressed = Boolean(this.isGuessing);
    part(".play").ariaLabel = this.timer ? "Pause" : "Play";
    part(".first").ariaDisabled = part(".back").ariaDisabled = number === 0;  // really disabled they lost the focus
    part(".forward").ariaDisabled = part(".last").ariaDisabled = number === last && !question;
    part("select").hidden = part(".answer").hidden = !question || choice >= 0;
    part(".next").hidden = choice < 0;
    this.views.forEach((view, k) => Object.assign(view, {ariaLabel: `${data.spaces[k].name}: ${answer || sentence}`}));
    this.plot.style.visibility = question ? "hidden" : "";  // it has the answer
    this.plot.ariaLabel = frame.bars.find(bar => bar[1])?.[4] ?? frame.boundTexts.join(", ");
    this.draw();
  }
  draw(isPrinted = false) {
    const isPaper = isPrinted || matchMedia("print").matches, {roles, frames} = this.data;
    const [ratio, tone] = isPaper ? [3, PAPER] : [devicePixelRatio, SCREEN];
    const start = canvas => new Drawing(canvas, canvas.clientWidth, canvas.clientHeight, ratio, tone, roles);
    this.views.forEach((view, k) => this.paint(k, start(view)));
    const frame = frames[this.number], {bars} = frame, alike = frames.filter(({kind}) => kind === frame.kind);
    this.plot.hidden = !bars.length && !alike.some(({lower, upper}) => lower !== null || upper !== null);
    this.step = Math.min((this.plot.clientWidth - 24) / bars.length, 28);
    if (bars.length) start(this.plot).bars(bars, this.step);
    else if (!this.plot.hidden) start(this.plot).bounds(alike, alike.indexOf(frame));
  }
  paint(k, drawing) {
    const {question, choice} = this, isAsked = question?.space === k, {name} = this.data.spaces[k], {width} = drawing;
    const subject = question ? prepared(isAsked && question.picture) : this.pictures[this.number][k];
    const labels = [...subject.labels, ...this.behind[k].labels];
    drawing.aim(this.turntable, [...this.extents[k], ...subject.all]);
    drawing.picture(this.behind[k], subject);
    drawing.boxes.push([0, 0, width, 26]);
    drawing.write(shortened(name, width / 9), 12, 15, drawing.tone.dim);
    if (isAsked) this.places = question.choices.map(([text, point], which) => {
      const isRight = choice >= 0 && question.right.includes(which), isAnswer = isRight || which === choice;
      const [mark, color] = isRight ? ["diamond", "#00b885"] : isAnswer ? ["cross", "#ff7a3c"] : ["disc", "#ffffff"];
      drawing.mark({mark, color, size: isAnswer ? 14 : 9}, drawing.place(point));
      if (isAnswer || choice < 0 && question.choices.length <= MANY) labels.unshift(["axis", text, point]);
      return drawing.place(point);
    });
    for (const label of labels) drawing.label(label);
  }
  picture(width, height) {  // URL of one of the views side by side, as they are on a screen
    const canvas = element("canvas", {width, height}), part = width / this.views.length, ratio = part / 440;
    this.views.forEach((_, k) => {
      const drawing = new Drawing(element("canvas"), part / ratio, height / ratio, ratio, SCREEN, this.data.roles);
      this.paint(k, drawing);
      canvas.getContext("2d").drawImage(drawing.context.canvas, k * part, 0);
    });
    return canvas.toDataURL();
  }
}

const all = [...document.querySelectorAll("figure.player")].map(figure => new Player(figure));
window.players = Object.fromEntries(all.map(player => [player.figure.id, player]));
const redraw = ({type}) => all.forEach(player => player.draw(type === "beforeprint"));
for (const name of ["beforeprint", "afterprint"]) addEventListener(name, redraw);
matchMedia("print").addEventListener("change", redraw);
addEventListener("keydown", event =>  // for the only player, or for that with the focus
  all.find(player => all.length === 1 || player.figure.contains(document.activeElement))?.key(event));
// Players are higher than what they are made of: what the address names has moved.
document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
