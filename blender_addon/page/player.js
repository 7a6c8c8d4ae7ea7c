"use strict";
// Makes a player of every <figure class="player"> from the JSON in it, which player_page.py writes: canvases that turn,
// buttons, a plot and questions. Texts are data and may contain anything: they become text, never markup.

const EYE = 5;  // distance of the eye from the middle of a space, relative to its size: a mild perspective
const REACH = 24;  // pixels within which a click means a choice
const MANY = 8;  // choices above which their labels would cover the picture
const FAINT = 0.28;  // opacity of lines behind faces
const LIGHT = unit([-0.45, 0.65, 0.6]);  // to the right, up, toward the viewer
const SCREEN = {ground: "#26262a", text: "#f4f4f6", dim: "#b6bac4", line: "#5c5e66", lit: "#3d3f47", ink: color => color};
const PAPER = {ground: "#ffffff", text: "#000000", dim: "#444444", line: "#b0b0b0", lit: "#e4e4e8", ink: darkened};
const CORNERS = {
  square: [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]], diamond: [[0, -1.1], [1.1, 0], [0, 1.1], [-1.1, 0]],
  triangle: [[0, -1.1], [1, 0.75], [-1, 0.75]],
};

const LAYOUT = `<div class="views"></div>
<div class="controls">${["First", "Back", "Play", "Forward", "Last"].map(name =>
  `<button type="button" class="${name.toLowerCase()}" aria-label="${name}" title="${name}"></button>`).join("")}
<input type="range" min="0" aria-label="Step"><button type="button" class="guess">Guess</button><output></output></div>
<div class="told"><div><div class="words" aria-live="polite"><b></b><p></p><p class="verdict"></p></div>
<div class="question"><select aria-label="Your choice"></select><button type="button" class="answer">Answer</button>
<button type="button" class="next">Next</button></div></div><canvas class="plot" role="img"></canvas></div>
<p class="help">Drag to turn, Ctrl and wheel or two fingers to zoom, double-click to reset. Keys: Left and Right step,
with Shift or by Home and End to the first and the last; on a view arrows turn, + and - zoom, 0 resets.</p>
<details><summary>All Steps</summary></details>`;

function dot(p, q) { return p[0] * q[0] + p[1] * q[1] + p[2] * q[2]; }
function cross(p, q) { return [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]; }
function combined(p, s, q, t) { return p.map((part, k) => s * part + t * q[k]); }
function unit(p) { return p.map(part => part / (Math.hypot(...p) || 1)); }
function clamped(value, low, high) { return Math.min(Math.max(value, low), high); }
function split(numbers, size) {  // [1, 2, 3, 4] by 2: [[1, 2], [3, 4]]
  return Array.from({length: numbers.length / size}, (_, k) => numbers.slice(k * size, (k + 1) * size));
}

function channels(color) { return [1, 3, 5].map(k => parseInt(color.slice(k, k + 2), 16)); }
function scaled(color, factor) { return `rgb(${channels(color).map(part => Math.round(part * factor)).join()})`; }
function darkened(color) {  // to be seen on white, where white becomes nearly black
  const [r, g, b] = channels(color);
  const factor = Math.min(r, g, b) > 240 ? 0.15 : Math.min(1, 110 / (0.3 * r + 0.59 * g + 0.11 * b));
  return "#" + [r, g, b].map(part => Math.round(part * factor).toString(16).padStart(2, "0")).join("");
}

function element(name, attributes) { return Object.assign(document.createElement(name), attributes); }

// From where all spaces of a player are seen: like Blender's turntable, its axis stays upright.
class Turntable {
  constructor(toward, up) {
    this.axis = unit(up);
    const height = dot(unit(toward), this.axis), level = combined(unit(toward), 1, this.axis, -height);
    this.level = unit(Math.hypot(...level) > 1e-6 ? level : cross(this.axis, [up[1], up[2], up[0]]));
    this.side = cross(this.axis, this.level);
    this.first = Math.asin(clamped(height, -1, 1));
    this.reset();
  }

  reset() {
    [this.yaw, this.pitch, this.zoom] = [0, this.first, 1];
    this.turn(0, 0, 1);
  }

  turn(yaw, pitch, zoom) {
    this.yaw += yaw;
    this.pitch = clamped(this.pitch + pitch, -Math.PI / 2, Math.PI / 2);
    this.zoom = clamped(this.zoom * zoom, 0.5, 12);
    const ahead = combined(this.level, Math.cos(this.yaw), this.side, Math.sin(this.yaw));
    this.toward = combined(ahead, Math.cos(this.pitch), this.axis, Math.sin(this.pitch));
    this.right = cross(this.axis, ahead);
    this.up = cross(this.toward, this.right);
  }

  seen(point) {  // to the right, up, and nearness, 1 in the middle: a plane stays one
    const nearness = EYE / (EYE - dot(point, this.toward));
    return [dot(point, this.right) * nearness, dot(point, this.up) * nearness, nearness];
  }
}

// A picture with points instead of numbers, and its triangles as faces: without seams between those of one plane.
function prepared(picture) {
  const {fills, lines, points, labels} = picture || {fills: [], lines: [], points: [], labels: []}, faces = [];
  for (const [role, opacity, numbers] of fills) for (const triangle of split(split(numbers, 3), 3)) {
    const [p, q, r] = triangle, normal = unit(cross(combined(q, 1, p, -1), combined(r, 1, p, -1))), last = faces.at(-1);
    const isSame = last?.role === role && dot(last.normal, normal) > 0.9995 && Math.abs(dot(last.normal, p) - last.height) < 1e-3;
    if (isSame) last.triangles.push(triangle);
    else faces.push({role, opacity, normal, height: dot(normal, p), triangles: [triangle]});
  }
  const made = {
    faces, labels, lines: lines.map(line => [...line.slice(0, 4), split(split(line[4], 3), 2)]),
    points: points.flatMap(([role, numbers]) => split(numbers, 3).map(point => [role, point])),
  };
  const corners = [faces.flatMap(face => face.triangles), made.lines.flatMap(line => line[4])].flat(2);
  return {...made, all: [...corners, ...made.points.map(mark => mark[1]), ...labels.map(label => label[2])]};
}

// Draws into a part of a canvas, in CSS pixels.
class Drawing {
  constructor(context, width, height, tone, roles = {}) {
    Object.assign(this, {context, width, height, tone, roles, boxes: [], busy: []});
    context.fillStyle = tone.ground;
    context.fillRect(0, 0, width, height);
    context.lineCap = context.lineJoin = "round";
  }

  aim(turntable, points) {  // so that all points are seen, of whichever step
    const low = [Infinity, Infinity], high = [-Infinity, -Infinity];
    for (const place of points.map(point => turntable.seen(point))) for (const k of [0, 1]) {
      low[k] = Math.min(low[k], place[k]);
      high[k] = Math.max(high[k], place[k]);
    }
    const scale = turntable.zoom *
      Math.min((this.width - 40) / (high[0] - low[0] || 1), (this.height - 64) / (high[1] - low[1] || 1));
    const [x, y] = [this.width - scale * (low[0] + high[0]), this.height + 20 + scale * (low[1] + high[1])];
    this.turntable = turntable;
    this.place = point => {
      const [right, up, nearness] = turntable.seen(point);
      return [x / 2 + scale * right, y / 2 - scale * up, nearness];
    };
  }

  picture(behind, subject) {
    this.faces([...behind.faces, ...subject.faces]);
    for (const picture of [behind, subject]) {
      const covers = picture.faces.flatMap(face => face.triangles.map(triangle => triangle.map(this.place)));
      for (const line of picture.lines) this.lines(line, picture === subject, covers);
    }
    for (const [role, point] of [...behind.points, ...subject.points]) this.mark(this.roles[role], this.place(point));
  }

  faces(faces) {  // the farthest first
    const {context, turntable} = this;
    const placed = faces.map(face => ({...face, corners: face.triangles.flat().map(this.place)}));
    for (const face of placed) face.nearness = face.corners.reduce((total, p) => total + p[2], 0) / face.corners.length;
    for (const {role, opacity, normal, corners} of placed.sort((p, q) => p.nearness - q.nearness)) {
      const {fill, color, hatch} = this.roles[role];
      const [right, up, toward] = [turntable.right, turntable.up, turntable.toward].map(axis => dot(axis, normal));
      const light = Math.max(0, dot(LIGHT, [right, up, toward]) * Math.sign(toward));  // both sides are seen
      const path = new Path2D(), alpha = Math.min(1, fill * opacity), ink = scaled(this.tone.ink(color), 0.6 + 0.4 * light);
      corners.forEach(([x, y], k) => k % 3 ? path.lineTo(x, y) : path.moveTo(x, y));
      Object.assign(context, {globalAlpha: hatch ? 0.4 * alpha : alpha, fillStyle: ink});
      context.fill(path);
      if (hatch) this.hatch(path, hatch, ink, alpha);
    }
    context.globalAlpha = 1;
  }

  hatch(path, period, ink, alpha) {  // falls to the right where the period is negative
    const {context, width, height} = this;
    context.save();
    context.clip(path);
    Object.assign(context, {globalAlpha: alpha, strokeStyle: ink, lineWidth: 0.3 * Math.abs(period)});
    for (let x = -height; x < width + height; x += Math.abs(period) * Math.SQRT2)
      this.stroke([x, 0], [x - Math.sign(period) * height, height]);
    context.restore();
  }

  stroke(...points) {
    this.context.beginPath();
    for (const [x, y] of points) this.context.lineTo(x, y);
    this.context.stroke();
  }

  lines([role, relative, isDashed, isArrow, lines], isSubject, covers) {
    const {context} = this, form = this.roles[role], width = form.width * relative, color = this.tone.ink(form.color);
    const paths = [new Path2D(), new Path2D()], ends = [[], []];  // of what is seen and of what is behind faces
    const heads = new Path2D(), isMuch = lines.length * covers.length > 5e4;
    for (const [start, end] of lines.map(points => points.map(this.place))) {
      const along = combined(end, 1, start, -1), length = Math.hypot(along[0], along[1]) || 1;
      const head = isArrow ? Math.min(7.5 * width, length / 2) : 0, shaft = 1 - 0.8 * head / length;
      const pieces = isMuch ? 1 : clamped(Math.ceil(length / 10), 1, 60);
      const at = part => combined(start, 1, along, part * shaft / pieces);
      for (let k = 0; k < pieces; k++) {
        const which = Number(covers.some(cover => isBehind(at(k + 0.5), cover))), [x, y] = at(k), next = at(k + 1);
        // Dashes and joins go on from one line to the next.
        if (!(Math.hypot(x - ends[which][0], y - ends[which][1]) < 0.3)) paths[which].moveTo(x, y);
        paths[which].lineTo(next[0], next[1]);
        ends[which] = next;
        if (isSubject) this.busy.push([x, y]);
      }
      if (!isArrow) continue;
      const [x, y] = combined(end, 1, along, -head / length), [right, down] = along.map(part => 0.36 * head * part / length);
      heads.moveTo(end[0], end[1]);
      heads.lineTo(x - down, y + right);
      heads.lineTo(x + down, y - right);
    }
    if (isSubject) {  // a rim sets it off from what it crosses
      Object.assign(context, {globalAlpha: 0.55, strokeStyle: this.tone.ground, lineWidth: width + 2.5});
      for (const path of [paths[0], heads]) context.stroke(path);
    }
    const period = Math.max(11, 5 * width);
    if (isDashed || form.dashed) context.setLineDash([0.6 * period - width, 0.4 * period + width]);
    Object.assign(context, {strokeStyle: color, fillStyle: color, lineWidth: width, globalAlpha: form.opacity});
    for (const path of [paths[0], heads]) context[path === heads ? "fill" : "stroke"](path);
    context.globalAlpha *= isSubject ? 2 * FAINT : FAINT;
    context.stroke(paths[1]);
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  mark({mark, size, color}, [x, y], ink = this.tone.ink(color)) {
    const {context} = this, r = size / 2, path = new Path2D(), isLine = mark === "cross" || mark === "ring";
    if (mark === "cross") path.addPath(new Path2D(`M${x - r} ${y - r}l${size} ${size}m0 ${-size}l${-size} ${size}`));
    else if (CORNERS[mark]) for (const [right, down] of CORNERS[mark]) path.lineTo(x + right * r, y + down * r);
    else path.arc(x, y, r, 0, 2 * Math.PI);
    path.closePath();
    Object.assign(context, {strokeStyle: this.tone.ground, lineWidth: isLine ? 0.15 * size + 3 : 3});
    context.stroke(path);
    Object.assign(context, {strokeStyle: ink, fillStyle: ink, lineWidth: 0.15 * size});
    context[isLine ? "stroke" : "fill"](path);
    if (mark === "ring") this.mark({mark: "disc", size: 0.35 * size}, [x, y], ink);
    this.busy.push([x, y]);
  }

  write(text, x, y, color = this.tone.text, align = "left", most = this.width) {  // cut where it is wider than `most`
    const {context} = this, letters = [...text];
    Object.assign(context, {font: "12px system-ui, sans-serif", textAlign: align, textBaseline: "middle"});
    const words = () => letters.length < [...text].length ? letters.join("") + "…" : text;
    while (letters.length > 1 && context.measureText(words()).width > most) letters.pop();
    Object.assign(context, {strokeStyle: this.tone.ground, lineWidth: 4, fillStyle: color});
    context.strokeText(words(), x, y);
    context.fillText(words(), x, y);
    return context.measureText(words()).width;
  }

  label([role, text, point]) {  // beside its point, rather away from the middle, and not over others
    const [x, y] = this.place(point), {width, height} = this, most = 0.6 * width;
    const half = Math.min(this.write(text, -1e4, 0, "#000", "left", most), most) / 2 + 3;
    const outward = Math.atan2(y - height / 2, x - width / 2), found = [];
    for (const distance of [10, 20, 34, 52]) for (let turn = 0; turn < 2 * Math.PI; turn += Math.PI / 8) {
      const right = x + Math.cos(outward + turn) * (distance + half), down = y + Math.sin(outward + turn) * (distance + 8);
      const middle = [clamped(right, half + 4, width - half - 4), clamped(down, 12, height - 12)];
      const [left, top, end, bottom] = [middle[0] - half, middle[1] - 8, middle[0] + half, middle[1] + 8];
      const covered = this.busy.filter(([p, q]) => p > left - 5 && p < end + 5 && q > top - 5 && q < bottom + 5);
      const others = this.boxes.filter(other => other[0] < end && other[2] > left && other[1] < bottom && other[3] > top);
      const cost = 400 * others.length + 9 * covered.length + distance + 8 * (1 - Math.cos(turn));
      found.push({cost, middle, box: [left, top, end, bottom]});
    }
    const {middle, box} = found.reduce((best, other) => other.cost < best.cost ? other : best);
    this.boxes.push(box);
    Object.assign(this.context, {strokeStyle: this.tone.ink(this.roles[role].color), lineWidth: 1});
    this.stroke([x, y], [clamped(x, box[0] + 3, box[2] - 3), clamped(y, box[1] + 2, box[3] - 2)]);
    this.write(text, ...middle, this.tone.text, "center", most);
  }
}

function isBehind([x, y, nearness], [p, q, r]) {
  const [qx, qy, rx, ry] = [q[0] - p[0], q[1] - p[1], r[0] - p[0], r[1] - p[1]], area = qx * ry - qy * rx || Infinity;
  const s = ((x - p[0]) * ry - (y - p[1]) * rx) / area, t = (qx * (y - p[1]) - qy * (x - p[0])) / area;
  return s >= 0 && t >= 0 && s + t <= 1 && p[2] + s * (q[2] - p[2]) + t * (r[2] - p[2]) > nearness + 1e-3;
}

// What an algorithm knows after each of its steps: both bounds, or of SAT a bar for every axis.
class Plot extends Drawing {
  bounds(frames, number) {
    const known = frames.flatMap(frame => [frame.lower, frame.upper]).filter(value => value !== null);
    const low = Math.min(...known), high = Math.max(...known), {width, height, context} = this;
    const words = frames[number].boundTexts, room = Math.max(...words.map(text => this.write(text, -1e4, 0))) + 24;
    const x = k => 12 + k * (width - 12 - room) / frames.length;
    const y = value => high > low ? 14 + (height - 28) * (high - value) / (high - low) : height / 2;
    this.band(x(number), x(number + 1));
    Object.assign(context, {strokeStyle: this.tone.line, lineWidth: 1});
    for (const value of [low, high, ...(low < 0 && high > 0 ? [0] : [])]) this.stroke([x(0), y(value)], [x(frames.length), y(value)]);
    const places = [];
    for (const [k, name, role, dash, mark] of [[0, "lower", "simplex", [], "disc"], [1, "upper", "support", [5, 4], "square"]]) {
      const color = this.tone.ink(this.roles[role].color), path = new Path2D();
      frames.forEach((frame, step) => {
        if (frame[name] === null) return;
        if (step === 0 || frames[step - 1][name] === null) path.moveTo(x(step), y(frame[name]));
        path.lineTo(x(step), y(frame[name]));
        path.lineTo(x(step + 1), y(frame[name]));
      });
      Object.assign(context, {strokeStyle: color, lineWidth: 2});
      context.setLineDash(dash);
      context.stroke(path);
      context.setLineDash([]);
      const reached = frames.slice(0, number + 1).findLast(frame => frame[name] !== null);
      if (!reached) continue;
      this.mark({mark, size: 7}, [(x(number) + x(number + 1)) / 2, y(reached[name])], color);
      places[k] = y(reached[name]);
    }
    if (places.length === 2 && places[0] - places[1] < 16) {  // the texts are not on one another
      const middle = clamped((places[0] + places[1]) / 2, 16, height - 16);
      [places[0], places[1]] = [middle + 8, middle - 8];
    }
    places.forEach((place, k) => this.write(words[k], x(frames.length) + 8, place));
  }

  bars(bars) {  // overlaps up, gaps down; returns which frame is at a place
    const {width, height, context} = this, step = Math.min((width - 24) / bars.length, 28);
    const above = Math.max(0, ...bars.map(bar => -bar[0])), below = Math.max(0, ...bars.map(bar => bar[0]));
    const unit = (height - 50 - (below && 12)) / (above + below || 1), base = 38 + above * unit;
    bars.forEach(([distance, isBest, isCurrent], k) => {
      const x = 12 + k * step, isGap = distance > 0, end = base + (Math.abs(distance * unit) < 2 ? -2 : distance * unit);
      if (isCurrent) this.band(x, x + step);
      const color = this.tone.ink(this.roles[isGap ? "gap" : "overlap"].color), path = new Path2D();
      path.rect(x + 0.14 * step, Math.min(base, end), 0.72 * step, Math.abs(end - base));
      Object.assign(context, {fillStyle: color, globalAlpha: isGap ? 0.5 : isBest || isCurrent ? 1 : 0.65});
      context.fill(path);
      if (isGap) this.hatch(path, -4, color, 1);
      context.globalAlpha = 1;
      if (isBest) this.mark({mark: "diamond", size: 9}, [x + step / 2, end + (isGap ? 7 : -7)], this.tone.text);
    });
    Object.assign(context, {strokeStyle: this.tone.dim, lineWidth: 1});
    this.stroke([12, base], [12 + bars.length * step, base]);
    const best = bars.find(bar => bar[1]);
    if (best) this.write(`best: ${best[4]}`, 12, 14, this.tone.dim);
    return x => bars[Math.floor((x - 12) / step)]?.[3] ?? -1;
  }

  band(from, to) {
    this.context.fillStyle = this.tone.lit;
    this.context.fillRect(from, 4, to - from, this.height - 8);
  }
}

class Player {
  constructor(figure) {
    this.data = JSON.parse(figure.querySelector("script").textContent);
    const {spaces, frames, toward, up} = this.data, list = figure.querySelector("ol.all");
    Object.assign(this, {figure, number: 0, seen: new Set(), question: null, choice: -1, tries: 0, hits: 0});
    this.turntable = new Turntable(toward, up);
    this.behind = spaces.map(space => prepared(space.behind));
    this.pictures = frames.map(frame => frame.pictures.map(prepared));
    this.extents = spaces.map((_, k) => {  // all that is drawn in a space at any time
      const asked = frames.filter(frame => frame.guess?.space === k).map(frame => prepared(frame.guess.picture));
      const all = [this.behind[k], ...this.pictures.map(pictures => pictures[k]), ...asked].flatMap(picture => picture.all);
      return [...new Map(all.map(point => [point.join(), point])).values()];
    });
    figure.insertAdjacentHTML("beforeend", LAYOUT);
    this.part = selector => figure.querySelector(selector);
    this.views = spaces.map((_, k) => this.view(k));
    this.part(".views").append(...this.views);
    this.part("details").append(list);
    for (const item of list.children) {
      const link = element("button", {type: "button", className: "step"});
      link.append(...item.childNodes);
      item.append(link);
    }
    this.slider = this.part("[type=range]");
    this.slider.max = frames.length - 1;
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    this.part(".guess").hidden = !frames.some(frame => frame.guess);
    this.plot = this.part(".plot");
    this.plot.addEventListener("click", event => this.go(this.frameAt?.(event.offsetX) ?? -1));
    const acts = {
      first: () => this.go(0), back: () => this.go(this.number - 1), play: () => this.play(!this.timer),
      forward: () => this.forward(), last: () => this.go(frames.length - 1), guess: () => this.ask(),
      answer: () => this.choose(this.part("select").selectedIndex), next: () => this.forward(),
    };
    figure.addEventListener("click", ({target}) => {
      const button = target.closest("button");
      if (button?.className === "step") this.go([...list.children].indexOf(button.parentElement));
      else if (button) acts[button.className]();
    });
    figure.tabIndex = -1;
    const watch = new ResizeObserver(() => this.draw());
    for (const canvas of [...this.views, this.plot]) watch.observe(canvas);
    this.go(0);
  }

  view(k) {
    const canvas = element("canvas", {tabIndex: 0}), fingers = new Map();
    let way = 0;  // that the pointer went: a click has none
    canvas.setAttribute("role", "img");
    const on = (name, act) => canvas.addEventListener(name, act, {passive: false});
    on("mousedown", event => {  // the keys are those of the player then, and not of the view
      event.preventDefault();
      this.figure.focus({preventScroll: true});
    });
    on("pointerdown", event => {
      if (event.button !== 0) return;
      way = fingers.size ? Infinity : 0;
      fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
      canvas.setPointerCapture(event.pointerId);
    });
    on("pointermove", event => {
      const last = fingers.get(event.pointerId), now = [event.offsetX, event.offsetY];
      if (!last) return;
      const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
      const off = point => Math.hypot(point[0] - other[0], point[1] - other[1]) || 1;
      const [right, down] = combined(now, 1, last, -1);
      way += Math.abs(right) + Math.abs(down);
      fingers.set(event.pointerId, now);
      if (way > 4) this.turn(-right / 120, down / 120, other ? off(now) / off(last) : 1);
    });
    on("pointerup", event => {
      if (way <= 4 && this.question?.space === k) this.choose(this.nearest(event.offsetX, event.offsetY));
    });
    for (const name of ["pointerup", "pointercancel"]) on(name, event => fingers.delete(event.pointerId));
    on("dblclick", () => this.reset());
    on("wheel", event => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.turn(0, 0, Math.exp(-event.deltaY / 300));
    });
    return canvas;
  }

  turn(yaw, pitch, zoom) {
    this.turntable.turn(yaw, pitch, zoom);
    this.draw();
  }

  reset() {
    this.turntable.reset();
    this.draw();
  }

  key(event) {
    const {key, target} = event, isView = target.matches("canvas"), isInside = this.figure.contains(target);
    if (event.ctrlKey || event.altKey || event.metaKey || target.matches("input, select, textarea") && !event.shiftKey) return;
    const turns = {ArrowLeft: [0.15, 0, 1], ArrowRight: [-0.15, 0, 1], ArrowUp: [0, 0.15, 1], ArrowDown: [0, -0.15, 1],
      "+": [0, 0, 1.2], "-": [0, 0, 1 / 1.2]};
    const last = this.data.frames.length - 1, way = {ArrowLeft: -1, ArrowRight: 1}[key];
    if (isView && turns[key]) this.turn(...turns[key]);
    else if (isView && key === "0") this.reset();
    else if (isInside && key === "Home" || event.shiftKey && way < 0) this.go(0);
    else if (isInside && key === "End" || event.shiftKey && way > 0) this.go(last);
    else if (way) way > 0 ? this.forward() : this.go(this.number - 1);
    else return;
    event.preventDefault();
  }

  go(number) {
    if (!this.data.frames[number]) return;
    this.number = number;
    const {guess} = this.data.frames[number];
    this.question = this.isGuessing && !this.seen.has(number) && guess || null;
    this.choice = -1;
    if (!this.question) this.seen.add(number);
    this.update();
  }

  forward() {
    if (!this.question) return this.go(this.number + 1);
    this.seen.add(this.number);
    this.go(this.number);
  }

  play(isOn) {
    clearTimeout(this.timer);
    this.timer = 0;
    const {frames} = this.data, isEnd = this.number === frames.length - 1;
    if (isOn && isEnd) this.go(0);
    if (isOn) this.timer = setTimeout(() => {
      this.forward();
      this.play(!this.question && this.number < frames.length - 1);
    }, clamped(1200 + 25 * this.part(".words").textContent.length, 2500, 6000));
    this.update();
  }

  ask() {  // or stop asking; what has been seen is asked again
    this.isGuessing = !this.isGuessing;
    Object.assign(this, {tries: 0, hits: 0});
    this.seen.clear();
    this.play(false);
    this.go(this.number);
  }

  choose(choice) {
    if (this.choice >= 0 || !this.question?.choices[choice]) return;
    this.choice = choice;
    this.tries += 1;
    this.hits += Number(this.question.right.includes(choice));
    const hadFocus = this.part(".question").contains(document.activeElement);
    this.update();
    if (hadFocus) this.part(".next").focus();
  }

  nearest(x, y) {  // choice within reach
    const off = this.places.map(place => Math.hypot(place[0] - x, place[1] - y)), least = Math.min(...off);
    return least <= REACH ? off.indexOf(least) : -1;
  }

  get said() {
    const frame = this.data.frames[this.number], {question, choice} = this;
    if (!question) return [frame.title, frame.sentence, ""];
    const verdict = question.right.includes(choice) ? "Right." : "Not right.";
    return [frame.title, question.question, choice < 0 ? "" : `${verdict} ${question.answer}`];
  }

  update() {
    const {question, choice, number} = this, last = this.data.frames.length - 1, [title, sentence, verdict] = this.said;
    const write = (selector, text) => {  // what stays is not said again
      if (this.part(selector).textContent !== text) this.part(selector).textContent = text;
    };
    write(".words b", title);
    write(".words p", sentence);
    write(".verdict", verdict);
    write("output", this.isGuessing ? `${this.hits} of ${this.tries} right` : "");
    this.slider.value = number;
    this.slider.setAttribute("aria-valuetext", title);
    for (const name of ["first", "back"]) this.part(`.${name}`).disabled = number === 0;
    for (const name of ["forward", "last"]) this.part(`.${name}`).disabled = number === last && !question;
    this.part(".guess").setAttribute("aria-pressed", Boolean(this.isGuessing));
    const play = this.part(".play");
    play.title = play.ariaLabel = this.timer ? "Pause" : "Play";
    this.part(".question").hidden = !question;
    for (const name of ["select", ".answer"]) this.part(name).hidden = choice >= 0;
    this.part(".next").hidden = choice < 0;
    if (question && choice < 0)
      this.part("select").replaceChildren(...question.choices.map(([label]) => element("option", {textContent: label})));
    [...this.part(".all").children].forEach((item, k) => item.classList.toggle("current", k === number));
    this.views.forEach((canvas, k) => canvas.setAttribute("aria-label", `${this.data.spaces[k].name}: ${sentence} ${verdict}`));
    this.draw();
  }

  draw() {
    const isPaper = isPrinting || matchMedia("print").matches, tone = isPaper ? PAPER : SCREEN;
    const ratio = isPaper ? 3 : devicePixelRatio || 1;
    const drawn = (canvas, act) => {
      const [width, height] = [canvas.clientWidth, canvas.clientHeight];
      if (!width) return;
      Object.assign(canvas, {width: width * ratio, height: height * ratio});
      const context = canvas.getContext("2d");
      context.scale(ratio, ratio);
      act(context, width, height);
    };
    this.views.forEach((canvas, k) => drawn(canvas, (...place) => this.paint(k, tone, ...place)));
    const frame = this.data.frames[this.number], frames = this.data.frames.filter(({kind}) => kind === frame.kind);
    const hasBounds = frames.length > 1 && frames.some(({lower, upper}) => lower !== null || upper !== null);
    this.plot.classList.toggle("none", !frame.bars.length && !hasBounds);
    this.plot.style.visibility = this.question ? "hidden" : "";  // it has the answer
    this.plot.setAttribute("aria-label", frame.bars.find(bar => bar[1])?.[4] ?? frame.boundTexts.join(", "));
    drawn(this.plot, (...place) => {
      const plot = new Plot(...place, tone, this.data.roles);
      this.frameAt = frame.bars.length ? plot.bars(frame.bars) : plot.bounds(frames, frames.indexOf(frame));
    });
  }

  paint(k, tone, context, width, height) {
    const drawing = new Drawing(context, width, height, tone, this.data.roles), {question, choice} = this;
    drawing.aim(this.turntable, this.extents[k]);
    const subject = prepared(question ? question.space === k && question.picture : null);
    const shown = question ? subject : this.pictures[this.number][k], labels = [...shown.labels, ...this.behind[k].labels];
    drawing.picture(this.behind[k], shown);
    drawing.boxes.push([0, 0, width, 26]);
    drawing.write(this.data.spaces[k].name, 12, 15, tone.dim, "left", width - 24);
    if (question?.space === k) {
      this.places = question.choices.map(([, point]) => drawing.place(point));
      question.choices.forEach(([text, point], which) => {
        const isRight = choice >= 0 && question.right.includes(which), isShown = isRight || which === choice;
        const form = isRight ? {mark: "diamond", size: 15, color: "#00b885"} : {mark: "disc", size: 9, color: "#ffffff"};
        drawing.mark(which === choice && !isRight ? {mark: "cross", size: 13, color: "#ff7a3c"} : form, this.places[which]);
        if (isShown || choice < 0 && question.choices.length <= MANY) labels.push(["axis", text, point]);
      });
    }
    for (const label of labels) drawing.label(label);
  }

  show(number) {
    this.go(number);
  }

  // Return the views of the step that is shown, side by side as on a dark screen, as the URL of a picture.
  picture(width, height) {
    const canvas = element("canvas", {width, height}), context = canvas.getContext("2d"), count = this.views.length;
    const part = width / count, ratio = Math.max(1, part / 440);
    for (let k = 0; k < count; k++) {
      context.setTransform(ratio, 0, 0, ratio, k * part, 0);
      context.save();
      context.beginPath();
      context.rect(0, 0, part / ratio, height / ratio);
      context.clip();
      this.paint(k, SCREEN, context, part / ratio, height / ratio);
      context.restore();
    }
    return canvas.toDataURL();
  }
}

let isPrinting = false;
window.players = {};
for (const figure of document.querySelectorAll("figure.player")) players[figure.id] = new Player(figure);
const all = Object.values(players), redraw = () => all.forEach(player => player.draw());
for (const [name, value] of [["beforeprint", true], ["afterprint", false]]) addEventListener(name, () => {
  isPrinting = value;
  redraw();
});
matchMedia("print").addEventListener("change", redraw);
addEventListener("keydown", event => {  // those of the player with the focus, or of the only one
  const player = all.find(({figure}) => figure.contains(document.activeElement)) ?? (all.length === 1 ? all[0] : null);
  player?.key(event);
});
// Players are higher than what they are made of: what the address names has moved.
document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
