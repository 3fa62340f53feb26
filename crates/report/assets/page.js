// What a reader does to the page: filter, order, open a row, read a chart. Every text of a run is put in as text, never as markup.
"use strict";

const holder = $("data");
const data = holder ? JSON.parse(holder.textContent) : null;

// ---- Rows: filter and order

const rows = [...document.querySelectorAll("tr.row")].map((row) => ({
  row,
  home: row.parentElement,
  isFolded: row.closest(".folded") !== null,
  words: ["th", "td.place"].map((cell) => row.querySelector(cell)?.textContent ?? "").join(" ").toLowerCase(),
  is: new Set(row.dataset.is.split(" ")),
  detail: null,
}));

function filter() {
  const words = $("words").value.toLowerCase().split(/\s+/).filter(Boolean);
  const kind = $("show").value;
  let shown = 0;
  for (const each of rows) {
    const matches = words.every((word) => each.words.includes(word)) && (!kind || each.is.has(kind));
    each.row.hidden = !matches;
    if (each.detail) each.detail.hidden = !matches || !isOpen(each);
    shown += matches;
  }
  for (const group of document.querySelectorAll("tbody.group")) {
    group.hidden = !group.querySelector("tr.row:not([hidden])");
  }
  unfold(words.length > 0 || kind !== "");
  $("count").value = `${shown} of ${rows.length} rows`;
  $("none").hidden = shown > 0;
}

const folded = document.querySelector(".folded");
const wasOpen = folded?.open;

/** Whoever looks for a row finds it also where it was folded away. */
function unfold(isAsked) {
  if (!folded) return;
  folded.hidden = !folded.querySelector("tr.row:not([hidden])");
  folded.open = isAsked || wasOpen;
}

/** By what rows are ordered, and whether the least or the greatest is first. */
const ORDERS = {
  dear: ["cost", -1],
  cheap: ["cost", 1],
  differs: ["difference", -1],
  verdict: ["verdict", 1],
};

/** Rows without the number stand last, whatever the direction; of those with one verdict, the greatest difference first. */
function order() {
  const by = $("order").value;
  const number = (each, name) => (each.row.dataset[name] ? Number(each.row.dataset[name]) : null);
  const compare = (a, b, [name, sign]) => {
    const [left, right] = [number(a, name), number(b, name)];
    if (left === null || right === null) return (left === null) - (right === null);
    return sign * (left - right);
  };
  const before = (a, b) => compare(a, b, ORDERS[by]) || (by === "verdict" ? compare(a, b, ORDERS.differs) : 0);
  const sorted = by ? [...rows].sort(before) : rows;
  for (const each of sorted.filter((each) => !each.isFolded)) {
    (by ? $("flat") : each.home).append(...[each.row, each.detail].filter(Boolean));
  }
  filter();
}

// ---- Charts

const charts = new Set();

const axis = (label, more = {}) => ({
  label,
  size: 28,
  gap: 3,
  labelSize: 18,
  labelGap: 0,
  font: "12px system-ui, sans-serif",
  labelFont: "12px system-ui, sans-serif",
  stroke: () => color("quiet"),
  grid: { stroke: () => color("axis"), width: 1 },
  ticks: { stroke: () => color("axis"), width: 1, size: 4 },
  values: (_, splits) => splits.map((value) => (value === null ? "" : String(Number(value.toPrecision(6))))),
  ...more,
});

/** A series of points without lines. */
const points = (label, name, unit, isHollow) => ({
  label,
  stroke: () => color(name),
  paths: () => null,
  points: { show: true, size: isHollow ? 6 : 5, width: 1.5, stroke: () => color(name), fill: () => (isHollow ? color("paper") : color(name)) },
  value: (_, value) => (value === null || value === undefined ? "-" : `${digits(value)} ${unit}`),
  marker: name,
  isHollow,
});

/**
 * A chart in a figure: with a caption, a note below, and a line that says aloud which point the arrow keys have reached.
 * What the chart shows must also be readable without it: `table` makes that when asked.
 */
function figure(place, { caption, note, series, axes, scales, columns, hooks, height = 200, table }) {
  const plot = element("div", { class: "plot", tabindex: "0", role: "group", "aria-label": `${caption}. Arrow keys read its points.` });
  const heard = element("div", { class: "heard", role: "status" });
  const box = element("figure", {}, element("figcaption", {}, caption), plot, element("div", { class: "note" }, note || ""), heard);
  if (table) box.append(asTable(table));
  place.append(box);
  const marker = (index) => `var(--${series[index].marker})`;
  const options = {
    width: Math.max(plot.clientWidth, 200),
    height,
    series,
    axes,
    scales,
    hooks,
    cursor: { drag: { x: true, y: false }, points: { size: 8 } },
    legend: {
      markers: {
        width: 2,
        stroke: (_, index) => marker(index),
        fill: (_, index) => (series[index].isHollow ? "transparent" : marker(index)),
      },
    },
  };
  const chart = new uPlot(options, columns, plot);
  plot.querySelector(".u-legend").setAttribute("aria-label", "Values under the pointer");
  charts.add(chart);
  new ResizeObserver(() => {
    const width = plot.clientWidth;
    if (width > 0 && width !== chart.width) chart.setSize({ width, height });
  }).observe(plot);
  // Its own, because points of one moment are one place for the cursor.
  let at = -1;
  plot.addEventListener("keydown", (event) => { at = step(event, chart, at, heard); });
  return chart;
}

/** Moves the cursor of a chart from a point to the one that a key asks for, and says what is there; returns where it is. */
function step(event, chart, at, heard) {
  const last = chart.data[0].length - 1;
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last, PageDown: at + 10, PageUp: at - 10 }[event.key];
  if (to === undefined || last < 0) return at;
  event.preventDefault();
  const index = Math.min(Math.max(to, 0), last);
  const values = chart.series.map((_, number) => chart.data[number][index]);
  const shown = values.findIndex((value, number) => number > 0 && value !== null && value !== undefined);
  const top = shown > 0 ? chart.valToPos(values[shown], chart.series[shown].scale) : 0;
  chart.setCursor({ left: chart.valToPos(values[0], "x"), top });
  const said = chart.series.map((series, number) => [series, values[number]]).filter(([, value]) => value !== null && value !== undefined);
  heard.textContent = said.map(([series, value]) => `${series.label} ${digits(value)}`).join(", ");
  return index;
}

/** The numbers behind a chart, made when they are asked for. */
function asTable({ caption, headings, lines }) {
  const details = element("details", {}, element("summary", {}, "The same as a table"));
  details.addEventListener("toggle", () => {
    if (!details.open || details.querySelector("table")) return;
    const head = element("tr", {}, ...headings.map((heading) => element("th", { scope: "col", class: "number" }, heading)));
    const body = lines().map((line) => element("tr", {}, ...line.map((text) => element("td", { class: "number" }, text))));
    const table = element("table", { class: "plain" }, element("caption", {}, caption), element("thead", {}, head), element("tbody", {}, ...body));
    details.append(element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, table));
  });
  return details;
}

function redraw() {
  for (const chart of charts) {
    if (chart.root.isConnected) chart.redraw(false);
    else charts.delete(chart);
  }
}

/** Draws with the canvas of a chart, in the plotting area alone. */
function within(chart, draw) {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  draw(ctx, bbox);
  ctx.restore();
}

// ---- Rounds

/** Why a round is in the estimate, or is not: as the data numbers it. */
const STATES = [
  { label: "kept", name: "kept", isHollow: false },
  { label: "kept, on another CPU", name: "other", isHollow: false },
  { label: "core shared", name: "shared", isHollow: true },
  { label: "preempted", name: "preempted", isHollow: true },
  { label: "struck by interrupts", name: "struck", isHollow: true },
];

/** The states that occur, each with a column that has a value where a round is in that state. */
function byState(states, values) {
  const present = STATES.map((state, number) => ({ ...state, number })).filter(({ number }) => states.includes(number));
  return present.map((state) => ({ ...state, column: values.map((value, index) => (states[index] === state.number ? value : null)) }));
}

/** Beyond this multiple of what was kept, rounds would press all others together. */
const FAR = 3;

/** What the charts of some runs leave room for, in one unit: their rounds and intervals, and from where on rounds are too far. */
function spanOf(runs) {
  const known = runs.filter((run) => run && run.rounds.t.length);
  const kept = known.flatMap(({ rounds }) => rounds.v.filter((_, index) => rounds.s[index] < 2));
  const intervals = known.flatMap((run) => [run.low, run.high]);
  const most = extremes([...kept, ...intervals])[1];
  const limit = kept.length && most > 0 ? FAR * most : Infinity;
  const drawn = known.flatMap(({ rounds }) => rounds.v.filter((value) => value <= limit));
  return { limit, limits: range([...drawn, ...intervals]) };
}

function roundsOf(place, run, name, { limit, limits }) {
  const { rounds, unit, low, high, estimate } = run;
  const far = rounds.v.filter((value) => value > limit);
  const columns = byState(rounds.s, rounds.v.map((value) => (value > limit ? null : value)));
  const notes = [];
  if (estimate !== null) notes.push(low === null ? "line: the estimate" : "line and band: the estimate and its 95 % interval");
  if (rounds.every > 1) notes.push(`one of ${rounds.every} rounds is shown`);
  if (far.length) notes.push(`${far.length} rounds lie above, up to ${digits(extremes(far)[1])}`);
  const estimates = (chart) => within(chart, (ctx, box) => {
    if (estimate === null) return;
    const y = (value) => chart.valToPos(value, "y", true);
    if (low !== null) {
      ctx.fillStyle = color("band");
      ctx.fillRect(box.left, y(high), box.width, Math.max(y(low) - y(high), 1));
    }
    ctx.fillStyle = color("ink");
    ctx.fillRect(box.left, y(estimate) - devicePixelRatio / 2, box.width, devicePixelRatio);
  });
  figure(place, {
    caption: `Rounds over time${name}`,
    note: notes.join("; "),
    columns: [rounds.t, ...columns.map(({ column }) => column)],
    series: [{ label: "at", value: (_, value) => (value === null || value === undefined ? "-" : `${digits(value)} s`) }, ...columns.map((state) => points(state.label, state.name, "", state.isHollow))],
    scales: { x: { time: false }, y: { range: () => limits } },
    axes: [axis("seconds since the run began"), axis(unit, { size: 62 })],
    hooks: { drawAxes: [estimates] },
    table: {
      caption: `Rounds over time${name}`,
      headings: ["seconds", unit, "state"],
      lines: () => rounds.t.map((t, index) => [digits(t), digits(rounds.v[index]), STATES[rounds.s[index]].label]),
    },
  });
}

/** The least and the greatest of the numbers that are known. (A spread call takes only so many arguments.) */
function extremes(values) {
  const known = values.filter((value) => value !== null && Number.isFinite(value));
  return known.reduce(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [Infinity, -Infinity]);
}

/** The same with a margin; of nothing, an axis that is still one. */
function range(values) {
  const [least, most] = extremes(values);
  if (least > most) return [0, 1];
  const margin = (most - least) * 0.08 || Math.abs(most) * 0.05 || 1;
  return [least - margin, most + margin];
}

// ---- Distributions

function distributionOf(place, run, name, limits, number) {
  const { histogram, unit, estimate, modes } = run;
  const centres = histogram.shares.map((_, index) => histogram.from + (index + 0.5) * histogram.width);
  const ends = (index) => `${digits(histogram.from + index * histogram.width)} to ${digits(histogram.from + (index + 1) * histogram.width)} ${unit}`;
  const marker = data.runs > 1 ? `run-${number}` : "kept";
  const lines = (chart) => within(chart, (ctx, box) => {
    for (const [value, dash] of [...modes.map((mode) => [mode, [4, 4]]), [estimate, []]]) {
      if (value === null) continue;
      const x = chart.valToPos(value, "x", true);
      ctx.strokeStyle = color("ink");
      ctx.lineWidth = 1.5 * devicePixelRatio;
      ctx.setLineDash(dash.map((length) => length * devicePixelRatio));
      ctx.beginPath();
      ctx.moveTo(x, box.top);
      ctx.lineTo(x, box.top + box.height);
      ctx.stroke();
    }
  });
  figure(place, {
    caption: `Single samples${name}`,
    note: histogram.note,
    columns: [centres, histogram.shares],
    series: [
      { label: "cost", value: (_, value, __, index) => (index === null || index === undefined ? "-" : ends(index)) },
      { label: "samples", stroke: () => color(marker), fill: () => color(marker), paths: uPlot.paths.bars({ size: [0.96, Infinity] }), points: { show: false }, value: (_, value) => (value === null || value === undefined ? "-" : `${digits(value)} %`), marker },
    ],
    scales: { x: { time: false, range: () => limits }, y: { range: (_, __, max) => [0, max * 1.05 || 1] } },
    axes: [axis(unit), axis("percent of samples", { size: 50 })],
    hooks: { draw: [lines] },
    table: {
      caption: `Single samples${name}`,
      headings: [unit, "percent"],
      lines: () => histogram.shares.map((share, index) => [ends(index), digits(share)]),
    },
  });
}

/** One scale for all runs, where they have one unit. */
function limitsOf(runs) {
  const known = runs.map((run) => run?.histogram).filter(Boolean);
  return [Math.min(...known.map((one) => one.from)), Math.max(...known.map((one) => one.from + one.width * one.shares.length))];
}

// ---- A row's detail

const isOpen = (each) => each.row.querySelector(".open").getAttribute("aria-expanded") === "true";

function toggle(each) {
  const button = each.row.querySelector(".open");
  const opens = !isOpen(each);
  button.setAttribute("aria-expanded", String(opens));
  if (opens && !each.detail) {
    each.detail = detailOf(each);
    button.setAttribute("aria-controls", each.detail.id);
  }
  each.detail.hidden = !opens;
}

function detailOf(each) {
  const all = data.rows[each.row.id];
  const cell = element("td", { colspan: String(each.row.closest("table").tHead.rows[0].cells.length) });
  const detail = element("tr", { class: "detail", id: `${each.row.id}-detail` }, cell);
  each.row.after(detail);
  if (each.row.dataset.title) cell.append(element("p", { class: "quiet" }, each.row.dataset.title));
  const places = all.map((run, number) => run && panel(cell, run, number));
  const units = new Set(all.filter(Boolean).map((run) => run.unit));
  all.forEach((run, number) => {
    if (!run) return;
    const name = data.runs > 1 ? `, run ${letter(number)}` : "";
    const together = units.size === 1 ? all : [run];
    if (run.histogram) distributionOf(places[number], run, name, limitsOf(together), number);
    if (run.rounds.t.length) roundsOf(places[number], run, name, spanOf(together));
  });
  return detail;
}

const letter = (number) => String.fromCharCode(65 + number);

/** The figures of a row in one run; returns where its charts belong. */
function panel(cell, run, number) {
  if (data.runs > 1) cell.append(element("h4", { class: `run-${number}` }, element("span", { class: "letter" }, letter(number))));
  for (const remark of run.remarks) cell.append(element("p", {}, remark));
  const list = element("dl");
  for (const [label, text] of run.facts) list.append(element("div", {}, element("dt", {}, label), element("dd", {}, text)));
  const side = element("div", { class: "side" });
  cell.append(list, side);
  return side;
}

// ---- The run over time

function timeline(place) {
  const number = Number(place.dataset.run);
  const all = Object.values(data.rows).map((runs) => runs[number]?.rounds).filter(Boolean);
  const rounds = all.flatMap((one) => one.t.map((t, index) => ({ t, canary: one.canary[index], ghz: one.ghz[index], state: one.s[index] === 1 ? 0 : one.s[index] })));
  rounds.sort((a, b) => a.t - b.t);
  const every = Math.max(1, ...all.map((one) => one.every));
  const note = every > 1 ? `one of ${every} rounds is shown` : "";
  const t = rounds.map((round) => round.t);
  const states = rounds.map((round) => round.state);
  const at = { label: "at", value: (_, value) => (value === null || value === undefined ? "-" : `${digits(value)} s`) };
  const common = { scales: { x: { time: false }, y: { range: (_, min, max) => range([min, max]) } }, height: 220 };
  const name = data.runs > 1 ? `, run ${letter(number)}` : "";
  const columns = byState(states, rounds.map((round) => round.canary));
  figure(place, {
    ...common,
    caption: `Canary: is anybody else on the core?${name}`,
    note,
    columns: [t, ...columns.map(({ column }) => column)],
    series: [at, ...columns.map((state) => points(state.label, state.name, "", state.isHollow))],
    axes: [axis("seconds since the run began"), axis("instructions in a core cycle", { size: 50 })],
  });
  if (rounds.some((round) => round.ghz !== null)) {
    figure(place, {
      ...common,
      caption: `Clock of the core${name}`,
      note,
      columns: [t, rounds.map((round) => round.ghz)],
      series: [at, points("clock", "kept", "GHz", false)],
      axes: [axis("seconds since the run began"), axis("GHz", { size: 50 })],
      height: 150,
    });
  }
}

// ---- Beginning

function begin() {
  // A canvas keeps the colors that it was drawn with: also on paper, which is white.
  document.addEventListener("painted", redraw);
  if (rows.length) {
    $("filter").hidden = false;
    $("filter").addEventListener("submit", (event) => event.preventDefault());
    $("words").addEventListener("input", filter);
    $("show").addEventListener("change", filter);
    $("order").addEventListener("change", order);
    $("clear").addEventListener("click", () => {
      $("words").value = $("show").value = "";
      filter();
      $("words").focus();
    });
    filter();
  }
  for (const each of data ? rows : []) {
    const button = each.row.querySelector(".open");
    button.hidden = false;
    button.addEventListener("click", () => toggle(each));
  }
  for (const place of data ? document.querySelectorAll(".charts") : []) timeline(place);
}

begin();
