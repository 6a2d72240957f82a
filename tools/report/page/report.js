"use strict";
// One page that shows a profile. Everything is drawn from the numbers in the page; nothing is fetched.
const $ = id => document.getElementById(id);
const el = (tag, props = {}, ...kids) => { const e = Object.assign(document.createElement(tag), props); e.append(...kids); return e; };
const fmt = v => v == null ? "" : typeof v !== "number" ? String(v) : Number.isInteger(v) ? v.toLocaleString("en-US") : Math.abs(v) >= 1000 ? Math.round(v).toLocaleString("en-US") : String(+v.toPrecision(3));
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const KINDS = { compute: "#4c8bf5", copy: "#b07aa1", exchange: "#f28e2b", sync: "#9c755f" };
const MEMORY = { parameters: "#4e79a7", activations: "#59a14f", staging: "#edc948", partials: "#b07aa1", rows: "#f28e2b", "patch tables": "#ffbe7d", code: "#e15759", host: "#9c755f", profile: "#d7b5a6", stacks: "#ff9da7", padding: "#bab0ac", unusable: "#79706e" };
const state = { view: "summary", profile: 0, tile: 0, event: -1, phase: 0, valueA: 0, valueB: 1, conversion: -1, operator: "", search: "", from: 0, to: 1, scroll: 0, open: new Set(), heat: "used" };
let profiles = [], comparison = null;

async function load() {
  const raw = Uint8Array.from(atob($("data").textContent.trim()), c => c.charCodeAt(0));
  const buffer = await new Response(new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  const size = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, size)));
  const kinds = { int32: Int32Array, float32: Float32Array, float64: Float64Array, uint8: Uint8Array };
  comparison = head.comparison;
  profiles = head.profiles.map(p => {
    for (const [name, a] of Object.entries(p.arrays)) p[name] = new kinds[a.type](buffer, a.at, a.length);
    return prepare(p);
  });
  const P = profiles[0];
  state.tile = P.peak ? P.peak.tile : 0; state.event = P.peak ? P.peak.instruction : -1; state.to = Math.max(P.total, 1);
  if (P.phases.length) state.phase = P.phaseOrder[0];
  if (comparison) state.view = "compare";
  address();
  $("title").textContent = profiles.map(p => p.label).join("  and  ");
  document.title = "tilewright: " + profiles.map(p => p.label).join(", ");
  show();
}

function prepare(p) {
  p.tiles = p.machine.tiles;
  p.total = p.executed_cycles.reduce((a, b) => a + b, 0);
  p.stepCycles = p.step_cycles;
  p.occurrence = new Uint8Array(p.executed_segment.length); // 0: first execution of its segment
  const seen = new Set();
  p.executed_segment.forEach((s, i) => { if (seen.has(s)) p.occurrence[i] = 1; seen.add(s); });
  // tiles that spend the same cycles in kernels are drawn as one row
  const groups = new Map(), rows = [];
  const kernel = p.steps.map((s, i) => i).filter(i => p.steps[i].category === "compute" || p.steps[i].category === "copy");
  const busy = new Float64Array(p.tiles);
  for (let t = 0; t < p.tiles; t++) {
    let key = "";
    for (const i of kernel) key += p.first[i * p.tiles + t].toString(36) + ",";
    if (!groups.has(key)) { groups.set(key, rows.length); rows.push({ tiles: [] }); }
    rows[groups.get(key)].tiles.push(t);
    for (let i = 0; i < p.steps.length; i++) { const n = p.segments[p.steps[i].segment].count; busy[t] += p.first[i * p.tiles + t] + (n - 1) * p.later[i * p.tiles + t]; }
  }
  for (const row of rows) row.lead = row.tiles.reduce((a, b) => busy[b] > busy[a] ? b : a, row.tiles[0]);
  p.classes = p.steps.length ? rows : []; p.busy = busy;
  const columns = p.machine.columns, index = new Map(columns.map((c, i) => [c, i]));
  p.grid = { rows: p.machine.rows, columns: columns.length * 4, at: new Int32Array(p.machine.rows * columns.length * 4).fill(-1), of: [] };
  for (let t = 0; t < p.tiles; t++) {
    const r = p.places[3 * t], c = index.get(p.places[3 * t + 1]) * 4 + p.places[3 * t + 2];
    p.grid.at[r * p.grid.columns + c] = t; p.grid.of[t] = [r, c];
  }
  p.classCount = p.tile_class.reduce((a, b) => Math.max(a, b), -1) + 1;
  // bytes in use by event (row 0 is loading) and class of tiles
  const last = p.buffers.reduce((a, b) => Math.max(a, b.last), p.instructions.length);
  p.events = last + 2;
  const base = p.machine.reservations.filter(r => r.category !== "unusable").reduce((a, r) => a + r.end - r.start, 0);
  const change = new Float64Array((p.events + 1) * p.classCount);
  p.buffers.forEach((b, i) => { for (let c = 0; c < p.classCount; c++) if (p.held[i * p.classCount + c]) { change[(b.first + 1) * p.classCount + c] += b.nbytes; change[(b.last + 2) * p.classCount + c] -= b.nbytes; } });
  for (let i = p.classCount; i < change.length; i++) change[i] += change[i - p.classCount];
  p.used = change.subarray(0, p.events * p.classCount).map(v => v + base);
  const bytes = i => p.phases[i].executions * sum(row(p.sent, i, p.tiles));
  p.phaseBytes = p.phases.map((_, i) => bytes(i));
  p.phaseOrder = p.phases.map((_, i) => i).sort((a, b) => p.phaseBytes[b] - p.phaseBytes[a]);
  return p;
}
const row = (array, i, width) => array.subarray(i * width, (i + 1) * width);
const sum = array => { let s = 0; for (const v of array) s += v; return s; };
const current = () => profiles[state.profile];

function show() {
  const P = current(), views = ["summary", ...(P.steps.length ? ["timeline"] : []), ...(P.buffers.length ? ["memory"] : []), ...(P.phases.length ? ["exchange"] : []), ...(P.layouts.length ? ["layouts"] : []), ...(P.operators.length ? ["program"] : []), ...(comparison ? ["compare"] : [])];
  if (!views.includes(state.view)) state.view = "summary";
  $("views").replaceChildren(...views.map(v => el("button", { id: "view-" + v, textContent: v[0].toUpperCase() + v.slice(1), className: v === state.view ? "on" : "", onclick: () => go(v) })));
  if (profiles.length > 1) $("views").append(el("select", { id: "which", onchange: e => { state.profile = +e.target.value; state.from = 0; state.to = Math.max(current().total, 1); state.scroll = 0; show(); } }, ...profiles.map((p, i) => el("option", { value: i, textContent: (i ? "B: " : "A: ") + p.label, selected: i === state.profile }))));
  hide();
  const main = $("main"); main.replaceChildren();
  ({ summary, timeline, memory, exchange, layouts, program, compare })[state.view](main, P);
  window.report = { state, profiles, ready: true, go };
}
// What the address names: report.html#memory,dark,tile=3
function address() {
  const [view, ...more] = decodeURIComponent(location.hash.slice(1)).split(",");
  if (view) state.view = view;
  for (const word of more) {
    const [key, value] = word.split(/=(.*)/);
    if (value == null) { if (word) document.documentElement.className = word; }
    else if (key in state && typeof state[key] === "number" && Number.isFinite(+value)) state[key] = +value;
    else if (key === "operator") aim(current(), value);
    else if (key === "conversion") state.conversion = current().conversions.findIndex(c => called(current(), c).includes(value));
    else if (key === "search") state.search = value;
  }
}
addEventListener("hashchange", () => { if (profiles.length) { address(); show(); } });
function go(view, change = {}) { Object.assign(state, change); state.view = view; show(); window.scrollTo(0, 0); }
function panel(width, title, ...kids) { return el("section", { className: "panel " + width }, ...(title ? [el("h2", {}, title)] : []), ...kids); }
function tip(event, text) { const t = $("tip"); t.textContent = text; t.hidden = !text; if (!text) return; const w = t.offsetWidth, h = t.offsetHeight; t.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - w - 8)) + "px"; t.style.top = (event.clientY + 18 + h > innerHeight ? Math.max(4, event.clientY - h - 10) : event.clientY + 18) + "px"; }
function hide() { $("tip").hidden = true; }

// A table; columns that hold numbers are set to the right, a click on a heading sorts.
function table(columns, rows, { pick = null, on = -1, bar = -1, id = "" } = {}) {
  const numeric = columns.map((_, i) => rows.some(r => typeof r[i] === "number") && rows.every(r => r[i] == null || typeof r[i] === "number"));
  const most = bar >= 0 ? Math.max(1, ...rows.map(r => r[bar] || 0)) : 1;
  const body = el("tbody");
  let order = rows.map((_, i) => i), sorted = null;
  const fill = () => body.replaceChildren(...order.map(i => el("tr", { className: (pick ? "pick " : "") + (i === on ? "on" : ""), onclick: pick ? () => pick(i) : null }, ...rows[i].map((c, k) => {
    const cell = el("td", { className: numeric[k] ? "n" : "" }); // names may break behind a dot, a stroke, an underscore
    fmt(c).split(/(?<=[_./|])(?=[^ ])/).forEach((part, j) => numeric[k] ? cell.append(part) : cell.append(...(j ? [el("wbr")] : []), part));
    if (k === bar && c > 0) { cell.classList.add("bar"); cell.style.setProperty("--share", Math.max(1, 100 * c / most).toFixed(1) + "%"); }
    return cell;
  }))));
  const head = el("tr", {}, ...columns.map((c, k) => el("th", { textContent: c, className: numeric[k] ? "n" : "", onclick: () => {
    const down = sorted === k ? 1 : -1; sorted = sorted === k ? null : k;
    order.sort((a, b) => { const x = rows[a][k], y = rows[b][k]; return (x == null) - (y == null) || (typeof x === "number" ? x - y : String(x).localeCompare(String(y))) * down; }); fill();
  } })));
  fill();
  return el("table", { id }, el("thead", {}, head), body);
}
function pageTable(P, name) { return P.tables.find(t => t.name === name); }
function stack(parts, colours) {
  const total = Math.max(1, parts.reduce((a, p) => a + p[1], 0));
  const shown = parts.filter(p => p[1] > 0);
  return [el("div", { className: "stack" }, ...shown.map(([n, v]) => el("div", { title: `${n}: ${fmt(v)}`, style: `width:${100 * v / total}%;background:${colours(n)}` }))),
    el("div", { className: "legend" }, ...shown.map(([n, v]) => el("span", {}, el("i", { style: `background:${colours(n)}` }), `${n} ${fmt(v)} (${(100 * v / total).toFixed(1)} %)`)))];
}
const EVIDENCE = { measured_held_out: "#2f6db5", measured: "#6ea8e5", derived: "#59a14f", assumed: "#e15759", exchange: "#f28e2b", sync: "#9c755f" };

function summary(main, P) {
  const grid = el("div", { className: "grid" }); main.append(grid);
  if (P.failure) grid.append(panel("w12", "The compilation ended with an error", el("p", { className: "mark", id: "failure", textContent: P.failure.message }), ...P.failure.notes.map(n => el("div", { textContent: n })), ...(P.failure.hint ? [el("p", { textContent: "What to do: " + P.failure.hint })] : [])));
  else {
    const by = name => pageTable(P, "shares").rows.filter(r => r[0] === name).map(r => [r[1], r[2]]);
    grid.append(panel("w12", "", el("div", { className: "facts" },
      el("div", {}, el("div", { className: "big", id: "cycles", textContent: fmt(P.total) }), el("span", { className: "faint", textContent: "cycles a run" })),
      el("div", {}, el("div", { className: "big", textContent: (P.total / P.machine.clock_hz * 1e3).toFixed(3) }), el("span", { className: "faint", textContent: `ms at ${P.machine.clock_hz / 1e9} GHz` })),
      ...(P.peak ? [el("div", {}, el("div", { className: "big", textContent: fmt(P.peak.nbytes) }), el("span", { className: "faint", textContent: `bytes of ${fmt(P.machine.sram_bytes)} in use at once on the fullest tile, ${P.peak.tile}` }))] : []),
      el("div", {}, el("div", { className: "big", textContent: fmt(P.tiles) }), el("span", { className: "faint", textContent: `tiles of ${P.machine.name}` })))));
    grid.append(panel("w6", "Cycles by kind", ...stack(by("kind").sort((a, b) => b[1] - a[1]), n => KINDS[n])), panel("w6", "Cycles by what they rest on", ...stack(by("evidence"), n => EVIDENCE[n])));
    const o = pageTable(P, "operators"), kept = ["operator", "total", "compute bound", "exchange bound", "gap"], at = kept.map(k => o.columns.indexOf(k));
    const c = pageTable(P, "costliest"), ck = ["step", "kind", "operator", "cycles", "percent", "executions"], ci = ck.map(k => c.columns.indexOf(k));
    grid.append(panel("w6", "Operators: cycles, bounds, and the gap to them", el("div", { className: "scroll" }, table(kept, o.rows.map(r => at.map(i => r[i])), { pick: i => find(P, o.rows[i][0]), bar: 1, id: "operators" }))));
    grid.append(panel("w6", "The costliest steps", el("div", { className: "scroll" }, table(ck, c.rows.map(r => ci.map(i => r[i])), { pick: i => find(P, c.rows[i][2]), id: "costliest" }))));
  }
  const s = pageTable(P, "summary");
  grid.append(panel("w6", "Run", table(s.columns, s.rows, { id: "run" })));
  const beside = el("div", { className: "w6 beside" }); grid.append(beside);
  if (P.peak) beside.append(panel("", `Memory of tile ${P.peak.tile} at its peak`, ...stack(categories(P, P.peak.tile, P.peak.instruction), n => n === "free" ? css("--low") : MEMORY[n]), el("p", {}, el("button", { textContent: "see the buffers", onclick: () => go("memory", { tile: P.peak.tile, event: P.peak.instruction }) }))));
  const errors = pageTable(P, "layers");
  if (errors) beside.append(panel("", "Errors by layer, against the reference", el("div", { className: "scroll", style: "max-height:300px" }, table(errors.columns, errors.rows, { id: "layers" }))));
  const o = P.operators.filter(x => x.sentence);
  if (o.length) grid.append(panel("w12", "The plan, a sentence each", el("div", { className: "scroll" }, table(["operator", "plan"], o.map(x => [x.name, x.sentence]), { id: "plan" }))));
}

// ---- timeline
const LEFT = 190, ROW = 16, TOP = 46;
// The timeline from where an operator begins to where it ends, first time, and what the operator is.
function aim(P, operator) {
  Object.assign(state, { search: operator, operator, scroll: 0 });
  const step = P.steps.findIndex(s => s.operator === operator);
  if (step < 0) return; // it costs nothing of its own, but stands somewhere
  const run = P.executed_segment.indexOf(P.steps[step].segment), at = P.executed_start[run];
  const mine = new Set(P.steps.filter(s => s.operator === operator).map(s => s.segment));
  const seen = new Set(); // up to where one of its segments is executed again
  let end = at;
  for (let i = run; i < P.executed_segment.length && P.executed_start[i] < at + P.total / 3; i++) {
    const segment = P.executed_segment[i];
    if (!mine.has(segment)) continue;
    if (seen.has(segment)) break;
    seen.add(segment); end = P.executed_start[i] + P.executed_cycles[i];
  }
  const margin = Math.max(20, (end - at) * 0.3);
  Object.assign(state, { from: Math.max(0, at - margin), to: Math.min(P.total, end + margin) });
}
function find(P, operator) { aim(P, operator); go(P.steps.length ? "timeline" : "program"); }
function canvasIn(height) { const c = el("canvas", { className: "pointer" }); c.style.height = height + "px"; return c; }
function begin(canvas) {
  const scale = devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  canvas.width = Math.round(w * scale); canvas.height = Math.round(h * scale);
  const g = canvas.getContext("2d"); g.scale(scale, scale); g.clearRect(0, 0, w, h); g.font = '12px system-ui, "DejaVu Sans", sans-serif'; g.textBaseline = "middle";
  return [g, w, h];
}
// What draws a canvas; one that is not shown, because the view was left before its frame came, draws nothing.
function painter(canvas, paint) { return () => { if (canvas.clientWidth > 0 && canvas.clientHeight > 0) paint(...begin(canvas)); }; }
// Every how many marks, `pitch` apart, one has `room`; where there is none, only the first.
function every(room, pitch) { return pitch > 0 ? Math.max(1, Math.ceil(room / pitch)) : Infinity; }
function timelineRows(P) {
  const rows = [{ label: "critical path", tile: -1 }];
  P.classes.forEach((c, i) => {
    const one = c.tiles.length === 1;
    rows.push({ label: one ? `tile ${c.tiles[0]}` : `${state.open.has(i) ? "−" : "+"} ${c.tiles.length} tiles like ${c.lead}`, tile: c.lead, group: one ? -1 : i });
    if (!one && state.open.has(i)) for (const t of c.tiles) rows.push({ label: `    tile ${t}`, tile: t, group: -1 });
  });
  return rows;
}
function cyclesOf(P, step, tile, later) { return later ? P.later[step * P.tiles + tile] : P.first[step * P.tiles + tile]; }
function slowest(P, segment, later) {
  const key = segment * 2 + later; P.slow ??= new Map();
  if (P.slow.has(key)) return P.slow.get(key);
  const s = P.segments[segment]; let best = 0, most = -1;
  for (let t = 0; t < P.tiles; t++) { let v = 0; for (let i = s.first_step; i < s.first_step + s.steps; i++) v += cyclesOf(P, i, t, later); if (v > most) { most = v; best = t; } }
  P.slow.set(key, best); return best;
}
function timeline(main, P) {
  const search = el("input", { id: "search", type: "search", placeholder: "operator, kernel or exchange", value: state.search, size: 34 });
  const found = el("span", { className: "faint", id: "found" }), where = el("span", { className: "faint", id: "range" });
  const tileInput = el("input", { id: "goto", type: "number", min: 0, max: P.tiles - 1, placeholder: "tile", onchange: () => {
    const t = +tileInput.value; if (!(t >= 0 && t < P.tiles)) return;
    const g = P.classes.findIndex(c => c.tiles.includes(t)); if (P.classes[g].tiles.length > 1) state.open.add(g);
    state.scroll = Math.max(0, timelineRows(P).findIndex(r => r.tile === t && r.label.trim() === `tile ${t}`) - 1); draw(); } });
  const canvas = canvasIn(Math.max(300, innerHeight - (state.operator ? 460 : 190))); canvas.id = "timeline";
  main.append(el("div", { className: "tools" }, search, found, el("button", { textContent: "whole run", id: "whole", onclick: () => { state.from = 0; state.to = P.total; draw(); } }), "go to", tileInput, where),
    el("div", { className: "legend", style: "margin-bottom:8px" }, ...Object.entries(KINDS).map(([n, c]) => el("span", {}, el("i", { style: `background:${c}` }), n)), el("span", {}, "wheel: zoom, drag: move, wheel over the names: scroll, click a name with +: its tiles; blank: waiting at a barrier")),
    el("section", { className: "panel", style: "padding:0;overflow:hidden" }, canvas), about(P, state.operator));
  const x = (c, w) => LEFT + (c - state.from) / (state.to - state.from) * (w - LEFT);
  let rows = [], matches = new Set();
  const match = () => { const q = state.search.trim().toLowerCase(); matches = new Set(); if (q) P.steps.forEach((s, i) => { if (`${s.operator} ${s.name} ${s.reason}`.toLowerCase().includes(q)) matches.add(i); }); found.textContent = q ? `${matches.size} ${matches.size === 1 ? "step" : "steps"}, ${fmt([...matches].reduce((a, i) => a + P.stepCycles[i], 0))} cycles` : ""; };
  const draw = painter(canvas, (g, w, h) => {
    rows = timelineRows(P);
    const text = css("--text"), faint = css("--faint"), line = css("--line"), dim = +css("--dim");
    where.textContent = `cycles ${fmt(Math.round(state.from))} to ${fmt(Math.round(state.to))} of ${fmt(P.total)}`;
    const visible = Math.floor((h - TOP - 30) / ROW);
    state.scroll = Math.max(0, Math.min(state.scroll, rows.length - visible));
    const span = state.to - state.from, step = 10 ** Math.floor(Math.log10(span / 5)), tick = [1, 2, 5, 10].map(f => f * step).find(v => span / v <= (w - LEFT) / 110) || 10 * step;
    g.fillStyle = faint; g.strokeStyle = line; g.textAlign = "center";
    const least = Math.ceil(state.from / tick) * tick;
    for (let k = 0; k * tick <= state.to - least; k++) { const c = least + k * tick, px = x(c, w); g.beginPath(); g.moveTo(px, 18); g.lineTo(px, h); g.stroke(); if (px > LEFT + 26 && px < w - 30) g.fillText(fmt(Math.round(c * 100) / 100), px, 10); }
    g.textAlign = "left";
    const drawRow = (r, y, height) => {
      let lastPixel = -1;
      for (let e = 0; e < P.executed_segment.length; e++) {
        const start = P.executed_start[e], end = start + P.executed_cycles[e];
        if (end < state.from || start > state.to) continue;
        const left = x(start, w), right = x(end, w);
        if (right - left < 0.7 && Math.floor(left) === lastPixel && !matches.size) continue;
        const s = P.segments[P.executed_segment[e]], later = P.occurrence[e], tile = r.tile < 0 ? slowest(P, P.executed_segment[e], later) : r.tile;
        let at = start;
        for (let i = s.first_step; i < s.first_step + s.steps; i++) {
          const c = cyclesOf(P, i, tile, later); if (!c) continue;
          const a = Math.max(LEFT, x(at, w)), b = Math.min(w, x(at + c, w)); at += c;
          if (b <= LEFT || a >= w) continue;
          g.globalAlpha = matches.size && !matches.has(i) ? dim : 1; g.fillStyle = KINDS[P.steps[i].category]; g.fillRect(a, y, Math.max(b - a - (b - a > 3 ? 0.5 : 0), 0.7), height); lastPixel = Math.floor(a);
          if (b - a > 60 && height > 12 && g.globalAlpha === 1) { g.fillStyle = "#0d1117"; g.save(); g.beginPath(); g.rect(a, y, b - a - 3, height); g.clip(); const label = P.steps[i].category === "compute" ? `${P.steps[i].operator} ${P.steps[i].name}` : P.steps[i].name; g.fillText(label, a + 4, y + height / 2); g.restore(); }
          g.globalAlpha = 1;
        }
      }
    };
    drawRow(rows[0], 22, 20); g.fillStyle = text; g.fillText(rows[0].label, 8, 32);
    for (let k = 0; k < visible && state.scroll + k + 1 < rows.length; k++) {
      const r = rows[state.scroll + k + 1], y = TOP + 6 + k * ROW;
      g.fillStyle = r.tile === state.tile ? css("--accent") : text; g.fillText(r.label, 8, y + ROW / 2 - 1); drawRow(r, y, ROW - 3);
    }
    g.fillStyle = faint; clip(g, `row ${fmt(state.scroll + 1)} of ${fmt(rows.length - 1)}, ${fmt(P.tiles)} tiles`, 8, h - 9, LEFT - 14);
  });
  const at = e => { const b = canvas.getBoundingClientRect(); return [e.clientX - b.left, e.clientY - b.top, b.width]; };
  const rowAt = y => y >= 20 && y < 44 ? rows[0] : y < TOP + 6 ? null : rows[state.scroll + 1 + Math.floor((y - TOP - 6) / ROW)];
  canvas.onwheel = e => {
    e.preventDefault(); const [px, , w] = at(e);
    if (px < LEFT || e.shiftKey) { state.scroll += Math.sign(e.deltaY || e.deltaX) * 4; draw(); return; }
    const c = state.from + (px - LEFT) / (w - LEFT) * (state.to - state.from), f = e.deltaY > 0 ? 1.25 : 0.8, span = Math.min(P.total, Math.max(20, (state.to - state.from) * f));
    state.from = Math.max(0, c - (c - state.from) / (state.to - state.from) * span); state.to = Math.min(P.total, state.from + span); state.from = Math.max(0, state.to - span); hide(); draw();
  };
  let drag = null;
  canvas.onmousedown = e => { const [px, py] = at(e); drag = [px, py, state.from, state.to, false]; };
  canvas.onmouseup = e => {
    const [px, py, w] = at(e);
    if (drag && !drag[4]) {
      const r = rowAt(py), step = r && px >= LEFT ? stepAt(r, px, w)[0] : null;
      if (r && px < LEFT && r.group >= 0) state.open.has(r.group) ? state.open.delete(r.group) : state.open.add(r.group);
      else if (r && r.tile >= 0) state.tile = r.tile;
      if (step && step.operator !== state.operator) { state.operator = step.operator; show(); return; } // what it is and where it stands
      if (r) draw();
    }
    drag = null;
  };
  canvas.onmouseleave = () => { drag = null; hide(); };
  canvas.onmousemove = e => {
    const [px, py, w] = at(e);
    if (drag && drag[0] >= LEFT && Math.abs(px - drag[0]) > 3) { drag[4] = true; const d = (px - drag[0]) / (w - LEFT) * (drag[3] - drag[2]), f = Math.max(0, Math.min(P.total - (drag[3] - drag[2]), drag[2] - d)); state.to = f + drag[3] - drag[2]; state.from = f; draw(); return; }
    const r = rowAt(py); if (!r || px < LEFT) { hide(); return; }
    const [t, tile, from, cycles, s] = stepAt(r, px, w);
    if (!s) hide();
    else if (!t) tip(e, `tile ${tile} waits at the barrier: ${fmt(cycles)} cycles`);
    else tip(e, `${t.name}  (${t.category})\noperator ${t.operator}\ntile ${tile}: cycles ${fmt(from)} to ${fmt(from + cycles)}, ${fmt(cycles)}\n${t.extents.length ? "extents " + t.extents.join(" x ") + "\n" : ""}${fmt(t.tiles)} tiles take part; executed ${fmt(s.count)} times${s.repeats.length ? " in repeat " + s.repeats.join(", ") : ""}\n${t.source}`);
  };
  // [step or null (waiting), tile, first cycle, cycles, segment] under a point of a row
  function stepAt(r, px, w) {
    const c = state.from + (px - LEFT) / (w - LEFT) * (state.to - state.from);
    for (let k = 0; k < P.executed_segment.length; k++) {
      const start = P.executed_start[k], end = start + P.executed_cycles[k];
      if (c < start || c >= end) continue;
      const s = P.segments[P.executed_segment[k]], tile = r.tile < 0 ? slowest(P, P.executed_segment[k], P.occurrence[k]) : r.tile; let a = start;
      for (let i = s.first_step; i < s.first_step + s.steps; i++) {
        const n = cyclesOf(P, i, tile, P.occurrence[k]);
        if (c < a + n) return [P.steps[i], tile, a, n, s];
        a += n;
      }
      return [null, tile, a, end - a, s];
    }
    return [null, 0, 0, 0, null];
  }
  search.oninput = () => { state.search = search.value; match(); draw(); };
  search.onkeydown = e => { if (e.key === "Enter" && matches.size) find(P, P.steps[[...matches][0]].operator); };
  match(); draw(); window.onresize = () => state.view === "timeline" && draw();
}

// What an operator is, costs, and where it stands in the program.
function about(P, name) {
  const o = P.operators.find(x => x.name === name);
  if (!o) return el("div", { id: "about" }, ...(name ? [panel("", name, el("div", { className: "faint", textContent: "steps that no operator of the program accounts for" }))] : []));
  const [file, line] = place(o.source), rounded = v => v == null ? "none" : fmt(Math.round(v));
  const facts = [["kind", o.kind], ["result", `${o.shape.join(" x ")} of ${o.dtype}`], ["of", o.operands.join(", ")], ["cycles", fmt(o.total)], ["bounds", `compute ${rounded(o.compute_bound)}, exchange ${rounded(o.exchange_bound)}`], ["plan", o.sentence], ["layout", o.layout + (o.view ? ", view " + o.view : "")], ["repeats", o.repeats.join(", ")]].filter(f => f[1]);
  const near = P.source.filter(l => l.file === file && Math.abs(l.line - line) <= 3);
  const code = el("pre", { id: "source" }, ...near.map(l => el("div", { className: l.line === line ? "here" : "" }, el("span", { className: "faint", textContent: String(l.line).padStart(5) + "  " }), l.text)));
  return el("div", { id: "about", className: "grid" }, panel("w5", name, table(["what", "figure"], facts, { id: "facts" })), panel("w7", o.source.replace(/^.*[/\\]/, "") || "It has no place in a file", code));
}
function place(source) { const m = /^(.*):(\d+):\d+$/.exec(source); return m ? [m[1], +m[2]] : ["", 0]; }

// ---- maps
function shade(v, most) { return `color-mix(in srgb, ${css("--high")} ${most > 0 ? Math.round(100 * v / most) : 0}%, ${css("--low")})`; }
function mix(a, b, f) { const h = s => [1, 3, 5].map(i => parseInt(s.slice(i, i + 2), 16)); const x = h(a), y = h(b); return `rgb(${x.map((v, i) => Math.round(v + (y[i] - v) * f)).join(",")})`; }
// Values of tiles on the physical grid: rows down, columns and their four lanes across.
function heat(P, values, { height = 260, click = null, mark = -1, unit = "bytes", id = "" } = {}) {
  const canvas = canvasIn(height); canvas.id = id;
  const draw = painter(canvas, (g, w, h) => {
    const G = P.grid, left = 34, top = 18, low = css("--low"), high = css("--high");
    const cw = (w - left - 6) / G.columns, ch = (h - top - 20) / G.rows, most = Math.max(0, ...values), least = Math.min(...values) === most ? 0 : Math.max(0, Math.min(...values));
    for (let t = 0; t < P.tiles; t++) { const [r, c] = G.of[t]; g.fillStyle = mix(low, high, most > least ? Math.max(0, values[t] - least) / (most - least) : 0); g.fillRect(left + c * cw, top + r * ch, Math.max(1, cw - (cw > 5 ? 1 : 0)), Math.max(1, ch - (ch > 5 ? 1 : 0))); }
    g.strokeStyle = css("--mark"); g.lineWidth = 2; if (mark >= 0 && mark < P.tiles) { const [r, c] = G.of[mark]; g.strokeRect(left + c * cw - 1, top + r * ch - 1, cw + 1, ch + 1); }
    g.fillStyle = css("--faint"); g.textAlign = "center"; P.machine.columns.forEach((c, i) => { if (4 * cw >= 16 || i % 2 === 0) g.fillText(c, left + (4 * i + 2) * cw, 9); });
    g.textAlign = "right"; for (let r = 0; r < G.rows; r++) if (r % every(13, ch) === 0) g.fillText(r, left - 6, top + (r + 0.5) * ch);
    g.textAlign = "left"; clip(g, `${fmt(least)} to ${fmt(most)} ${unit}; rows and columns of the chip, 4 lanes a column`, left, h - 9, w - left);
  });
  const tileAt = e => { const b = canvas.getBoundingClientRect(), G = P.grid, c = Math.floor((e.clientX - b.left - 34) / ((b.width - 40) / G.columns)), r = Math.floor((e.clientY - b.top - 18) / ((b.height - 38) / G.rows)); return c >= 0 && c < G.columns && r >= 0 && r < G.rows ? G.at[r * G.columns + c] : -1; };
  canvas.onmousemove = e => { const t = tileAt(e); t < 0 ? hide() : tip(e, `tile ${t} (row ${P.places[3 * t]}, column ${P.places[3 * t + 1]}, lane ${P.places[3 * t + 2]})\n${fmt(values[t])} ${unit}`); };
  canvas.onmouseleave = hide; if (click) canvas.onclick = e => { const t = tileAt(e); if (t >= 0) click(t); };
  requestAnimationFrame(draw); return canvas;
}

// ---- memory
function categories(P, tile, event) {
  const c = P.tile_class[tile], totals = Object.fromEntries(P.categories.map(n => [n, 0]));
  P.buffers.forEach((b, i) => { if (P.held[i * P.classCount + c] && b.first <= event && event <= b.last) totals[b.category] += b.nbytes; });
  for (const r of P.machine.reservations) totals[r.category] += r.end - r.start;
  totals.padding += totals.rows - P.row_bytes[tile]; totals.rows = P.row_bytes[tile];
  totals.free = P.machine.sram_bytes - P.categories.reduce((a, n) => a + (n === "free" ? 0 : totals[n]), 0);
  return P.categories.map(n => [n, totals[n]]);
}
function eventText(P, e) { if (e < 0) return "after loading"; const i = P.instructions[e]; return i ? `${e}: ${i.name}${i.operator && i.operator !== i.name ? " of " + i.operator : ""}${i.repeats.length ? " in repeat " + i.repeats.join(", ") : ""}` : "at the end"; }
function memory(main, P) {
  const redraw = change => { Object.assign(state, change); const y = scrollY; show(); scrollTo(0, y); };
  state.tile = Math.min(state.tile, P.tiles - 1); state.event = Math.max(-1, Math.min(state.event, P.events - 2));
  const c = P.tile_class[state.tile];
  const tileInput = el("input", { id: "tile", type: "number", min: 0, max: P.tiles - 1, value: state.tile, onchange: e => { const v = Math.round(+e.target.value); if (v >= 0 && v < P.tiles) redraw({ tile: v }); } });
  main.append(el("div", { className: "tools" }, "tile", tileInput, el("button", { textContent: "fullest tile at its peak", id: "fullest", onclick: () => redraw({ tile: P.peak.tile, event: P.peak.instruction }) }), "instruction", el("input", { id: "event", type: "number", min: -1, max: P.events - 2, value: state.event, onchange: e => redraw({ event: Math.round(+e.target.value) }) }), el("span", { className: "faint", textContent: eventText(P, state.event) })));
  const grid = el("div", { className: "grid" }); main.append(grid);
  // over time
  const over = canvasIn(230); over.id = "over"; const shown = P.categories.filter(n => MEMORY[n] && n !== "unusable");
  grid.append(panel("w12", `Tile ${state.tile} over the program, instruction by instruction`, over, el("div", { className: "legend" }, ...P.categories.filter(n => MEMORY[n]).map(n => el("span", {}, el("i", { style: `background:${MEMORY[n]}` }), n)))));
  requestAnimationFrame(painter(over, (g, w, h) => {
    const left = 70, low = h - 20, n = P.events, top = Math.max(P.machine.sram_bytes, ...Array.from({ length: n }, (_, e) => P.used[e * P.classCount + c])), px = (w - left) / n, y = v => low - v / top * (low - 8);
    for (let e = 0; e < n; e++) { let at = 0; const parts = categories(P, state.tile, e - 1); for (const [name, v] of parts) { if (!shown.includes(name) || v <= 0) continue; g.fillStyle = MEMORY[name]; g.fillRect(left + e * px, y(at + v), px + 0.4, y(at) - y(at + v)); at += v; } }
    g.strokeStyle = css("--mark"); g.lineWidth = 1; g.beginPath(); g.moveTo(left, y(P.machine.sram_bytes)); g.lineTo(w, y(P.machine.sram_bytes)); g.stroke();
    g.lineWidth = 2; g.strokeStyle = css("--accent"); g.strokeRect(left + (state.event + 1) * px, 6, Math.max(px, 2), low - 6);
    g.fillStyle = css("--faint"); g.textAlign = "right"; for (let k = 0; k <= 4; k++) g.fillText(fmt(Math.round(top * k / 4)), left - 6, y(top * k / 4));
    g.textAlign = "left"; g.fillText("loading", left, h - 9); g.textAlign = "right"; g.fillText(`instruction ${fmt(n - 2)}`, w - 4, h - 9);
  }));
  const eventAt = e => { const b = over.getBoundingClientRect(); return Math.floor((e.clientX - b.left - 70) / ((b.width - 70) / P.events)) - 1; };
  over.onmousemove = e => { const i = eventAt(e); i < -1 || i > P.events - 2 ? hide() : tip(e, `${eventText(P, i)}\n${fmt(P.used[(i + 1) * P.classCount + c])} bytes in use`); };
  over.onmouseleave = hide; over.onclick = e => { const i = eventAt(e); if (i >= -1 && i < P.events - 1) redraw({ event: i }); };
  // address map
  const live = P.buffers.map((b, i) => i).filter(i => P.held[i * P.classCount + c] && P.buffers[i].first <= state.event && state.event <= P.buffers[i].last);
  if (P.buffers.some(b => b.address != null)) {
    const lines = 16, map = canvasIn(lines * 20 + 8); map.id = "map"; const base = P.machine.sram_base, size = P.machine.sram_bytes, per = size / lines;
    const ranges = [...P.machine.reservations.map(r => ({ name: r.name, at: r.start, end: r.end, category: r.category, why: "reserved" })), ...live.map(i => P.buffers[i]).filter(b => b.address != null).map(b => ({ name: b.name, at: b.address, end: b.address + b.nbytes, category: b.category, why: b.reason }))];
    const hex = v => "0x" + v.toString(16);
    grid.append(panel("w7", "Addresses at this instruction (upper line: region, ticks: memory elements)", map));
    requestAnimationFrame(painter(map, (g, w) => {
      const left = 70, px = (w - left - 4) / per;
      for (let k = 0; k < lines; k++) { g.fillStyle = css("--low"); g.fillRect(left, k * 20 + 4, w - left - 4, 15); g.fillStyle = css("--faint"); g.textAlign = "right"; g.fillText(hex(Math.round(base + k * per)), left - 6, k * 20 + 12); }
      const paint = (from, to, colour, y, hh) => { for (let k = Math.max(0, Math.floor((from - base) / per)); k < lines && base + k * per < to; k++) { const a = Math.max(from, base + k * per), b = Math.min(to, base + (k + 1) * per); if (b > a) { g.fillStyle = colour; g.fillRect(left + (a - base - k * per) * px, k * 20 + y, Math.max((b - a) * px, 1), hh); } } };
      P.machine.regions.forEach((r, i) => { paint(r.start, r.end, i % 2 ? "#b07aa1" : "#4e79a7", 2, 2); for (let a = r.start; a < r.end; a += r.element_bytes) paint(a, a + 1, css("--text"), 2, 17); });
      for (const r of ranges) { paint(r.at, r.end, MEMORY[r.category] || css("--faint"), 5, 13); paint(r.at, r.at + 1, css("--back"), 5, 13); }
    }));
    map.onmousemove = e => { const b = map.getBoundingClientRect(), k = Math.floor((e.clientY - b.top) / 20), a = base + k * per + (e.clientX - b.left - 70) / ((b.width - 74) / per), r = ranges.find(r => a >= r.at && a < r.end); e.clientX - b.left < 70 || k >= lines ? hide() : tip(e, r ? `${r.name} (${r.category})\n${hex(r.at)} to ${hex(r.end)}, ${fmt(r.end - r.at)} bytes\n${r.why}` : `free at ${hex(Math.round(a))}`); };
    map.onmouseleave = hide;
  } else grid.append(panel("w7", "Addresses", el("p", { textContent: "No places were found: the table lists what asked for one." })));
  // over tiles
  const choose = el("select", { id: "heat", onchange: e => redraw({ heat: e.target.value }) }, ...["used", ...P.categories].map(n => el("option", { value: n, textContent: n, selected: n === state.heat })));
  const values = Array.from({ length: P.tiles }, (_, t) => 0), memo = new Map();
  for (let t = 0; t < P.tiles; t++) {
    const k = P.tile_class[t] + ":" + P.row_bytes[t];
    if (!memo.has(k)) memo.set(k, state.heat === "used" ? P.used[(state.event + 1) * P.classCount + P.tile_class[t]] : categories(P, t, state.event).find(x => x[0] === state.heat)[1]);
    values[t] = memo.get(k);
  }
  grid.append(panel("w5", "Over tiles at this instruction; click to choose", el("div", { className: "tools" }, choose), heat(P, values, { click: t => redraw({ tile: t }), mark: state.tile, id: "tiles", height: 284 })));
  live.sort((a, b) => P.buffers[b].nbytes - P.buffers[a].nbytes);
  grid.append(panel("w12", el("span", { id: "live-title", textContent: `${live.length} buffers live on tile ${state.tile}` }), el("div", { className: "scroll" }, table(["buffer", "category", "bytes", "address", "why", "source"], live.map(i => P.buffers[i]).map(b => [b.name, b.category, b.nbytes, b.address == null ? "" : "0x" + b.address.toString(16), b.reason, b.source]), { bar: 2, id: "live" }))));
  const homes = pageTable(P, "parameters");
  if (homes) {
    const box = el("div", { className: "scroll" }), filter = el("input", { id: "homes-search", type: "search", placeholder: "name of a tensor", size: 30 });
    const fill = () => box.replaceChildren(table(homes.columns, homes.rows.filter(r => String(r[0]).toLowerCase().includes(filter.value.toLowerCase())), { id: "homes" }));
    filter.oninput = fill; fill();
    grid.append(panel("w12", "Homes: where parameters, inputs and outputs live", el("div", { className: "tools" }, filter), box));
  }
}

// ---- exchange
function exchange(main, P) {
  const grid = el("div", { className: "grid" }); main.append(grid);
  state.phase = Math.min(state.phase, P.phases.length - 1);
  const ph = P.phases[state.phase], groups = P.tile_group.reduce((a, b) => Math.max(a, b), 0) + 1, sent = row(P.sent, state.phase, P.tiles), received = row(P.received, state.phase, P.tiles), between = row(P.between, state.phase, groups * groups);
  const order = P.phaseOrder, columns = ["phase", "executions", "bytes sent", "messages", "bound", "scheduled", "over bound", "8-byte items %", "row bytes"];
  grid.append(panel("w12", "Phases, those that send most first", el("div", { className: "scroll", style: "max-height:280px" }, table(columns, order.map(i => { const p = P.phases[i]; return [p.name, p.executions, P.phaseBytes[i], p.messages, p.bound, p.scheduled, p.bound ? p.scheduled / p.bound : null, p.paired / 10, p.row_bytes]; }), { pick: k => { state.phase = order[k]; show(); }, on: order.indexOf(state.phase), bar: 2, id: "phases" }))));
  grid.append(panel("w12", ph.name, el("div", { className: "facts" }, ...[["sent in one execution", sum(sent), "bytes"], ["received", sum(received), "bytes"], ["bound", ph.bound, "cycles"], ["scheduled", ph.scheduled, "cycles"], ["estimated", ph.estimated, "cycles"], ["most sent by a tile", Math.max(...sent), "bytes"], ["most received by a tile", Math.max(...received), "bytes"]].map(([n, v, u]) => el("div", {}, el("div", { style: "font-weight:600", textContent: `${fmt(v)} ${u}` }), el("span", { className: "faint", textContent: n }))))));
  grid.append(panel("w6", "Bytes out", heat(P, sent, { id: "out" })), panel("w6", "Bytes in", heat(P, received, { id: "in" })));
  const m = canvasIn(430), bands = Math.max(1, Math.round(groups / P.machine.columns.length)); m.id = "between"; const most = Math.max(...between);
  const name = g => { const t = P.tile_group.indexOf(g), n = P.tile_group.filter(v => v === g).length; return n === 1 ? `tile ${t}` : `${n} tiles of column ${P.places[3 * t + 1]} around row ${P.places[3 * t]}`; };
  grid.append(panel("w12", groups === P.tiles ? "Who sends (down) to whom (across), by tile" : "Who sends (down) to whom (across), by column and band of rows of the chip", m));
  requestAnimationFrame(painter(m, (g, w, h) => { const left = 44, cw = Math.min((w - left) / groups, 26), ch = (h - 20) / groups, low = css("--low"), high = css("--high"); for (let a = 0; a < groups; a++) for (let b = 0; b < groups; b++) { g.fillStyle = mix(low, high, most ? Math.sqrt(between[a * groups + b] / most) : 0); g.fillRect(left + b * cw, 18 + a * ch, Math.max(cw - (cw > 4 ? 1 : 0), 1), Math.max(ch - (ch > 4 ? 1 : 0), 1)); } g.fillStyle = css("--faint"); g.textAlign = "right"; const [label, size] = groups === P.tiles ? [i => i, 1] : [i => i % bands ? "" : P.places[3 * P.tile_group.indexOf(i) + 1], bands]; for (let a = 0; a < groups; a += size * every(14, ch * size)) g.fillText(label(a), left - 6, 18 + (a + size / 2) * ch); g.textAlign = "center"; for (let b = 0; b < groups; b += size * every(24, cw * size)) g.fillText(label(b), left + (b + size / 2) * cw, 9); m.cell = [cw, ch]; }));
  m.onmousemove = e => { const r = m.getBoundingClientRect(), [cw, ch] = m.cell || [1, 1], b = Math.floor((e.clientX - r.left - 44) / cw), a = Math.floor((e.clientY - r.top - 18) / ch); a >= 0 && b >= 0 && a < groups && b < groups ? tip(e, `from ${name(a)}\nto ${name(b)}\n${fmt(between[a * groups + b])} bytes`) : hide(); };
  m.onmouseleave = hide;
}

// ---- layouts
const owner = t => t < 0 ? css("--low") : `hsl(${Math.round(t * 137.508 % 360)} 55% ${58 + t * 7 % 18}%)`; // as in the SVG files
function layouts(main, P) {
  const last = P.layouts.length - 1, chosen = P.conversions[state.conversion];
  if (chosen) { state.valueA = chosen.source; state.valueB = chosen.target; }
  state.valueA = Math.min(state.valueA, last); state.valueB = Math.min(state.valueB, last);
  main.append(el("div", { className: "tools" }, el("select", { id: "conversion", style: "max-width:70%", onchange: e => { state.conversion = +e.target.value; show(); } },
    el("option", { value: -1, textContent: "two values side by side" }), ...P.conversions.map((c, i) => el("option", { value: i, textContent: called(P, c), selected: i === state.conversion }))),
    el("span", { className: "faint", textContent: P.conversions.length ? "or a conversion of layouts by an exchange phase" : "" })));
  const grid = el("div", { className: "grid" }); main.append(grid);
  const width = chosen ? "w5" : "w6";
  grid.append(panel(width, "", ...picture(P, "valueA")));
  if (chosen) grid.append(panel("w2", "What moves", ...moves(P, chosen)));
  grid.append(panel(width, "", ...picture(P, "valueB")));
}
function called(P, c) { return `${c.phase}: ${P.layouts[c.source].name} → ${P.layouts[c.target].name}`; }
function picture(P, side) {
  const n = state[side], v = P.layouts[n], bytes = row(P.layout_bytes, n, P.tiles), padding = row(P.layout_padding, n, P.tiles), first = row(P.layout_first, n, P.tiles), owners = P.layout_owner.subarray(v.at, v.at + v.rows * v.columns);
  const most = Math.max(...bytes, 1), holders = bytes.reduce((a, b) => a + (b > 0), 0);
  const choose = el("select", { id: side, style: "max-width:100%", onchange: e => { state[side] = +e.target.value; state.conversion = -1; show(); } }, ...P.layouts.map((l, i) => el("option", { value: i, textContent: `${l.name} (${l.what})`, selected: i === n })));
  const facts = table(["what", "figure"], [["shape", (v.shape.join(" x ") || "one element") + " of " + v.dtype], ["tiles", `${fmt(holders)} of ${fmt(P.tiles)}`], ["copies of each element", String(v.replicas)], ["bytes on the fullest tile", fmt(Math.max(...bytes))], ["padding over all tiles", fmt(sum(padding)) + " bytes of " + fmt(sum(bytes))], ["layout", v.layout], ["view", v.view]], { id: side + "-facts" });
  const elements = canvasIn(260), chip = canvasIn(230); elements.id = side + "-elements"; chip.id = side + "-chip";
  requestAnimationFrame(painter(elements, (g, w, h) => {
    const cw = w / Math.max(v.columns, 1), ch = h / Math.max(v.rows, 1);
    for (let r = 0; r < v.rows; r++) for (let c = 0, from = 0; c < v.columns; c++) if (c + 1 === v.columns || owners[r * v.columns + c + 1] !== owners[r * v.columns + c]) { const x = Math.round(from * cw), y = Math.round(r * ch); g.fillStyle = owner(owners[r * v.columns + c]); g.fillRect(x, y, Math.round((c + 1) * cw) - x, Math.round((r + 1) * ch) - y); from = c + 1; }
  }));
  requestAnimationFrame(painter(chip, (k, _, kh) => {
    const G = P.grid, box = cell(P, chip);
    for (let t = 0; t < P.tiles; t++) {
      const [x, y, bw, bh] = box(t); k.fillStyle = owner(first[t]); k.fillRect(x, y, bw, bh);
      if (padding[t]) { const part = Math.max(bh * padding[t] / most, 0.8); k.fillStyle = "#000a"; k.fillRect(x, y + bh - part, bw, part); }
      if (bw > 24 && bh > 14) { k.fillStyle = first[t] < 0 ? css("--faint") : "#000"; k.textAlign = "center"; k.fillText(t, x + bw / 2, y + bh / 2); }
    }
    k.fillStyle = css("--faint"); k.textAlign = "left"; k.fillText(`${G.rows} rows and ${P.machine.columns.length} columns of the chip, 4 lanes a column; dark: padding`, 0, kh - 9);
  }));
  elements.onmousemove = e => { const b = elements.getBoundingClientRect(), c = Math.floor((e.clientX - b.left) / b.width * v.columns), r = Math.floor((e.clientY - b.top) / b.height * v.rows), t = owners[r * v.columns + c]; if (t >= 0) tip(e, `row ${Math.floor((r + 0.5) * v.height / v.rows)} of ${fmt(v.height)}, column ${Math.floor((c + 0.5) * v.width / v.columns)} of ${fmt(v.width)}\non tile ${t}${v.replicas > 1 ? ` and ${v.replicas - 1} more` : ""}`); };
  chip.onmousemove = e => { const b = chip.getBoundingClientRect(), box = cell(P, chip), x = e.clientX - b.left, y = e.clientY - b.top; const t = P.grid.of.findIndex((_, t) => { const [l, u, w, h] = box(t); return x >= l && x < l + w + 1 && y >= u && y < u + h + 1; }); t < 0 ? hide() : tip(e, `tile ${t}: ${fmt(bytes[t])} bytes${padding[t] ? `, ${fmt(padding[t])} of them padding` : ""}${first[t] >= 0 && first[t] !== t ? `\nthe same part as tile ${first[t]}` : ""}`); };
  elements.onmouseleave = chip.onmouseleave = hide;
  return [el("div", { className: "tools" }, choose), facts, el("h2", { textContent: "Elements, coloured by the tile that holds them (rows down, columns across)", style: "margin-top:12px" }), elements, el("h2", { textContent: "Tiles; one colour: the same part", style: "margin-top:12px" }), chip];
}
// The box of a tile on the chip: left, top, width, height.
function cell(P, canvas) { const G = P.grid, cw = canvas.clientWidth / G.columns, ch = (canvas.clientHeight - 22) / G.rows, gap = Math.min(cw, ch) > 5 ? 1 : 0.3; return t => { const [r, c] = G.of[t]; return [c * cw, r * ch, cw - gap, ch - gap]; }; }
function moves(P, c) {
  const n = P.ends.length, between = P.moved.subarray(c.at, c.at + n * n), most = Math.max(1, ...between), canvas = canvasIn(620); canvas.id = "moves"; let over = -1;
  const pitch = () => (canvas.clientHeight - 24) / n, y = i => 18 + (i + 0.5) * pitch();
  const draw = painter(canvas, (g, w) => {
    const left = 30, right = w - 30;
    const pairs = []; between.forEach((b, i) => { if (b) pairs.push([b, Math.floor(i / n), i % n]); });
    for (const [b, from, to] of pairs.sort((p, q) => p[0] - q[0])) { g.globalAlpha = over < 0 ? 0.15 + 0.65 * b / most : from === over ? 0.9 : 0.03; g.strokeStyle = css("--accent"); g.lineWidth = Math.max(0.5, 3 * b / most); g.beginPath(); g.moveTo(left, y(from)); g.lineTo(right, y(to)); g.stroke(); }
    g.globalAlpha = 1; g.fillStyle = css("--faint"); for (let i = 0; i < n; i += every(13, pitch())) { g.textAlign = "right"; g.fillText(P.ends[i], left - 5, y(i)); g.textAlign = "left"; g.fillText(P.ends[i], right + 5, y(i)); }
    g.textAlign = "center"; g.fillText(n === P.tiles ? "tile to tile" : "column to column", w / 2, 8);
  });
  canvas.onmousemove = e => { const i = Math.floor((e.clientY - canvas.getBoundingClientRect().top - 18) / pitch()); if (i !== over) { over = i >= 0 && i < n ? i : -1; draw(); } if (over < 0) return hide(); const mine = Array.from(row(between, over, n)).map((b, to) => [b, to]).filter(x => x[0]).sort((p, q) => q[0] - p[0]), what = n === P.tiles ? "tile" : "column"; tip(e, mine.length ? `${what} ${P.ends[over]} sends ${fmt(mine.reduce((a, x) => a + x[0], 0))} bytes\n` + mine.slice(0, 8).map(x => `to ${what} ${P.ends[x[1]]}: ${fmt(x[0])}`).join("\n") + (mine.length > 8 ? `\nand to ${mine.length - 8} more` : "") : `${what} ${P.ends[over]} sends nothing`); };
  canvas.onmouseleave = () => { over = -1; hide(); draw(); };
  requestAnimationFrame(draw);
  return [table(["bytes", "figure"], [["move", sum(between)], ["stay on their tile", c.stays], ["most to one tile", c.most]], { id: "moved" }), canvas];
}

// ---- program
// Operators in the order of the program's text; those without a place behind the one before them.
function inOrder(P) {
  let last = ["", 0, 0];
  const keyed = P.operators.map((o, i) => { const m = /^(.*):(\d+):(\d+)$/.exec(o.source); if (m) last = [m[1], +m[2], +m[3]]; return [last, i, o]; });
  return keyed.sort(([a, i], [b, j]) => a[0].localeCompare(b[0]) || a[1] - b[1] || a[2] - b[2] || i - j).map(x => x[2]);
}
function program(main, P) {
  const listed = inOrder(P), names = new Map(listed.map((o, i) => [o.name, i])), most = Math.max(1, ...listed.map(o => o.total)), high = 30;
  const canvas = canvasIn(listed.length * high + 30); canvas.id = "graph"; canvas.style.cursor = "pointer";
  const text = el("span", { className: "faint", textContent: "lines lead from operands to operators, blue where an exchange brings them into another layout; the width of a bar is its cycles; click: timeline and source" });
  if (!P.steps.length && state.operator) main.append(about(P, state.operator));
  main.append(el("div", { className: "tools" }, text), el("section", { className: "panel" }, canvas));
  let over = -1;
  const by = new Map(); // conversions by the operators that make and read the value: buffers are called operator.what
  for (const c of P.conversions) { const ends = [c.source, c.target].map(i => P.layouts[i].name.replace(/\.[^.]*$/, "")).join(" "); by.set(ends, [...(by.get(ends) || []), c]); }
  const changed = (maker, reader) => by.get(maker + " " + reader) || [];
  const draw = painter(canvas, (g, w) => {
    const arcs = 120, name = arcs + 14, barAt = Math.min(460, w * 0.36), barWidth = Math.min(320, w * 0.2), layoutAt = barAt + barWidth + 96;
    g.fillStyle = css("--faint"); g.fillText("operator", name, 10); g.fillText("cycles", barAt, 10); g.fillText("kind, result, layout", layoutAt, 10);
    listed.forEach((o, i) => o.operands.forEach(x => { const j = names.get(x); if (j == null) return; const a = 30 + j * high + high / 2 - 6, b = 30 + i * high + high / 2 - 6, hot = over === i || over === j, moved = changed(x, o.name).length; g.strokeStyle = hot || moved ? css("--accent") : css("--faint"); g.globalAlpha = hot ? 1 : moved ? 0.85 : 0.5; g.lineWidth = hot ? 2.5 : 1; const r = Math.min(arcs - 8, 10 + Math.abs(i - j) * 7); g.beginPath(); g.moveTo(arcs, a); g.bezierCurveTo(arcs - r, a, arcs - r, b, arcs, b); g.stroke(); g.globalAlpha = 1; }));
    listed.forEach((o, i) => {
      const y = 30 + i * high + high / 2 - 6; g.fillStyle = over === i ? css("--accent") : css("--text"); clip(g, o.name, name, y, barAt - name - 12);
      let x = barAt; for (const [k, c] of [["compute", KINDS.compute], ["reduction", "#76b7b2"], ["copy", KINDS.copy], ["exchange", KINDS.exchange], ["sync", KINDS.sync]]) { const bw = o[k] / most * barWidth; g.fillStyle = c; g.fillRect(x, y - 7, bw, 14); x += bw; }
      const bound = Math.max(o.compute_bound || 0, o.exchange_bound || 0); if (bound) { g.fillStyle = css("--mark"); g.fillRect(barAt + bound / most * barWidth - 1, y - 10, 2, 20); }
      g.fillStyle = css("--text"); g.fillText(fmt(o.total), Math.max(x, bound ? barAt + bound / most * barWidth : 0) + 6, y); g.fillStyle = css("--faint"); clip(g, `${o.kind}  ${o.shape.join(" x ")} ${o.dtype}  ${o.layout}`, layoutAt, y, w - layoutAt - 6);
    });
  });
  const at = e => { const i = Math.floor((e.clientY - canvas.getBoundingClientRect().top - 24) / high); return i >= 0 && i < listed.length ? i : -1; };
  canvas.onmousemove = e => { const i = at(e); if (i !== over) { over = i; draw(); } if (i < 0) return hide(); const o = listed[i]; tip(e, `${o.name} (${o.kind})\n${o.operands.map(x => `of ${x}${changed(x, o.name).map(c => `: ${P.layouts[c.source].layout} becomes ${P.layouts[c.target].layout}`).join("")}\n`).join("")}${fmt(o.total)} cycles; bounds: compute ${fmt(o.compute_bound == null ? null : Math.round(o.compute_bound)) || "none"}, exchange ${fmt(o.exchange_bound == null ? null : Math.round(o.exchange_bound)) || "none"} (red line: the larger)\n${o.sentence ? "plan: " + o.sentence + "\n" : ""}${o.layout ? "layout " + o.layout + " view " + o.view + "\n" : ""}${o.source}`); };
  canvas.onmouseleave = () => { over = -1; hide(); draw(); };
  canvas.onclick = e => { const i = at(e); if (i >= 0) find(P, listed[i].name); };
  requestAnimationFrame(draw);
}
function clip(g, text, x, y, width) { if (g.measureText(text).width > width) { while (text.length > 1 && g.measureText(text + "…").width > width) text = text.slice(0, Math.max(1, text.length - Math.ceil(text.length / 20))); text += "…"; } g.fillText(text, x, y); }

function compare(main) {
  const grid = el("div", { className: "grid" }); main.append(grid);
  grid.append(panel("w12", "", el("div", { textContent: `A: ${profiles[0].label}` }), el("div", { textContent: `B: ${profiles[1].label}` })));
  for (const t of comparison) grid.append(panel("w12", t.title, el("div", { className: "scroll" }, table(t.columns, t.rows, { id: "compare-" + t.name, pick: t.name === "operators" ? i => find(current(), t.rows[i][0]) : null }))));
}

$("theme").onclick = () => { const dark = document.documentElement.classList.contains("dark") || (!document.documentElement.classList.contains("light") && matchMedia("(prefers-color-scheme: dark)").matches); document.documentElement.className = dark ? "light" : "dark"; show(); };
load();
