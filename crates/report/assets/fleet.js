// What a reader does to a fleet: looks at rows host by host, and at a host row by row. Both are made when they are looked at.
"use strict";

const data = JSON.parse($("data").textContent);
const oddOf = new Map(data.odd.map((odd) => [`${odd.cohort}.${odd.host}`, odd]));

// ---- Figures

/** A row's hosts by estimate: their places, estimates and intervals, as they were packed. */
function unpacked(row) {
  const text = atob(row.packed);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  const length = bytes.length / 16;
  const part = (kind, number) => new kind(bytes.buffer, number * 4 * length, length);
  return { host: part(Uint32Array, 0), estimate: part(Float32Array, 1), low: part(Float32Array, 2), high: part(Float32Array, 3) };
}

/** A difference in percent, with its sign. */
const percent = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(1)}\u00a0%`;

const nameOf = (cohort, host) => data.cohorts[cohort].hosts[host];
const addressOf = (cohort, host) => `#host-${cohort}.${host}`;
const linkTo = (cohort, host) => element("a", { href: addressOf(cohort, host) }, nameOf(cohort, host));

// ---- A chart of a row

/** So many times the spread, up and down, a chart shows; and never less than this part of the median. */
const REACH = 8;
const LEAST = 0.01;
/** Room above and below, where what lies beyond is drawn. */
const MARGIN = 7;

/** Where hosts and figures stand in a chart. */
function scaleOf(canvas, row, count) {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const reach = Math.max(REACH * row.spread, LEAST * Math.abs(row.median)) || 1;
  const middle = height / 2;
  return {
    width,
    height,
    reach,
    x: (place) => 4 + ((place + 0.5) / count) * (width - 8),
    y: (value) => middle - Math.max(-1, Math.min(1, (value - row.median) / reach)) * (middle - MARGIN),
    isBeyond: (value) => Math.abs(value - row.median) > reach,
  };
}

function draw({ canvas, row }) {
  const figures = unpacked(row);
  const count = figures.estimate.length;
  const scale = scaleOf(canvas, row, count);
  canvas.width = scale.width * devicePixelRatio;
  canvas.height = scale.height * devicePixelRatio;
  const ctx = canvas.getContext("2d");
  ctx.scale(devicePixelRatio, devicePixelRatio);
  ctx.fillStyle = color("line");
  ctx.fillRect(0, scale.y(row.median) - 0.5, scale.width, 1);
  drawAll(ctx, scale, figures);
  drawOdd(ctx, scale, figures, new Set(row.odd));
  ctx.fillStyle = color("quiet");
  ctx.font = "11px system-ui, sans-serif";
  ctx.fillText(digits(row.median + scale.reach), 2, 10);
  ctx.fillText(digits(row.median - scale.reach), 2, scale.height - 2);
}

/** Of many hosts intervals lie over each other. */
function drawAll(ctx, scale, { estimate, low, high }) {
  ctx.fillStyle = color("kept");
  ctx.globalAlpha = estimate.length > scale.width ? 0.15 : 0.4;
  for (let place = 0; place < estimate.length; place++) {
    if (Number.isNaN(low[place]) || Number.isNaN(high[place])) continue;
    const top = scale.y(high[place]);
    ctx.fillRect(scale.x(place) - 0.5, top, 1, Math.max(scale.y(low[place]) - top, 1));
  }
  ctx.globalAlpha = 1;
  for (let place = 0; place < estimate.length; place++) ctx.fillRect(scale.x(place) - 1, scale.y(estimate[place]) - 1, 2, 2);
}

function drawOdd(ctx, scale, { host, estimate }, odd) {
  ctx.fillStyle = color("warn");
  for (let place = 0; place < estimate.length; place++) {
    if (!odd.has(host[place])) continue;
    const [x, y] = [scale.x(place), scale.y(estimate[place])];
    ctx.beginPath();
    if (scale.isBeyond(estimate[place])) {
      const tip = y < scale.height / 2 ? -5 : 5;
      ctx.moveTo(x - 4, y);
      ctx.lineTo(x + 4, y);
      ctx.lineTo(x, y + tip);
    } else {
      ctx.arc(x, y, 3.5, 0, 2 * Math.PI);
    }
    ctx.fill();
  }
}

/** The host that is nearest to a press; an odd one near by is meant rather than its neighbours. */
function hostAt({ canvas, row }, x) {
  const { host, estimate } = unpacked(row);
  const scale = scaleOf(canvas, row, estimate.length);
  const odd = new Set(row.odd);
  const place = Math.min(Math.max(Math.floor(((x - 4) / (scale.width - 8)) * estimate.length), 0), estimate.length - 1);
  const near = [...host.keys()].filter((other) => odd.has(host[other]) && Math.abs(scale.x(other) - x) < 8);
  near.sort((a, b) => Math.abs(scale.x(a) - x) - Math.abs(scale.x(b) - x));
  return host[near[0] ?? place];
}

// ---- Charts of all rows

const charts = new Map();
const NAMED = 4;

const seen = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    const chart = charts.get(target);
    chart.isSeen = isIntersecting;
    if (isIntersecting) draw(chart);
  }
}, { rootMargin: "200px" });

function chartOf(number, row) {
  const canvas = element("canvas", { role: "img", "aria-label": `${row.name}: hosts by cost` });
  const spread = row.median > 0 ? `, hosts differ by ${((100 * row.spread) / row.median).toFixed(1)}\u00a0%` : "";
  const note = element("span", { class: "note quiet" }, `median ${digits(row.median)} ${row.unit}${spread}`);
  const box = element("figure", {}, element("figcaption", {}, element("span", { class: "name" }, row.name), note), canvas);
  if (row.odd.length) {
    const links = row.odd.slice(0, NAMED).flatMap((host) => [" ", linkTo(number, host)]);
    const more = row.odd.length > NAMED ? ` and ${row.odd.length - NAMED} more` : "";
    box.append(element("span", { class: "note" }, "odd:", ...links, more));
  }
  const chart = { canvas, row, box, words: row.name.toLowerCase() };
  canvas.addEventListener("click", (event) => { location.hash = addressOf(number, hostAt(chart, event.offsetX)); });
  charts.set(canvas, chart);
  seen.observe(canvas);
  return box;
}

/** Rows with odd hosts first. */
function addCohort(cohort, number) {
  const odd = data.odd.filter((one) => one.cohort === number).length;
  const details = element("details", {}, element("summary", {}, `${cohort.id}: ${cohort.name}; ${cohort.hosts.length} hosts, ${odd} odd`));
  details.addEventListener("toggle", () => {
    if (!details.open || details.querySelector(".strips")) return;
    const rows = [...cohort.rows].sort((a, b) => b.odd.length - a.odd.length);
    details.append(element("div", { class: "strips" }, ...rows.map((row) => chartOf(number, row))));
    filter();
  });
  $("strips").append(details);
  details.open = number === 0;
}

function redraw() {
  for (const chart of charts.values()) if (chart.isSeen) draw(chart);
}

// ---- A host

const cell = (text, isNumber) => element("td", isNumber ? { class: "number" } : {}, text);

/** What a host's row says of it: where it stands among the others. */
function lineOf(row, host, odd) {
  const figures = unpacked(row);
  const place = figures.host.indexOf(host);
  if (place < 0) return null;
  const [estimate, low, high] = [figures.estimate[place], figures.low[place], figures.high[place]];
  const difference = row.median > 0 ? percent((100 * (estimate - row.median)) / row.median) : "-";
  const interval = Number.isNaN(low) || Number.isNaN(high) ? "-" : `${digits(low)} to ${digits(high)}`;
  const how = odd?.rows.find(([name]) => name === row.name);
  const line = element("tr", row.odd.includes(host) ? { class: "odd" } : {});
  line.append(cell(row.name), cell(digits(estimate), true), cell(interval, true), cell(row.unit), cell(digits(row.median), true));
  line.append(cell(difference, true), cell(`${place + 1} of ${figures.host.length}`, true), cell(how ? how[1] : ""));
  return line;
}

const HEADINGS = ["row", "here", "its interval", "unit", "median", "difference", "place", "odd by"];

function show(cohortNumber, host) {
  const cohort = data.cohorts[cohortNumber];
  const odd = oddOf.get(`${cohortNumber}.${host}`);
  const said = odd ? `Odd: q = ${odd.q.toPrecision(2)}, by ${odd.runs} runs.` : "Not odd.";
  const together = odd?.moves_together && odd.common_percent !== null ? ` All of its rows move together, by ${percent(odd.common_percent)}.` : "";
  const differs = odd ? odd.differs.map((text) => element("li", {}, text)) : [];
  const lines = cohort.rows.map((row) => lineOf(row, host, odd)).filter(Boolean);
  lines.sort((a, b) => b.matches(".odd") - a.matches(".odd"));
  const head = element("tr", {}, ...HEADINGS.map((heading) => element("th", { scope: "col" }, heading)));
  const table = element("table", { class: "plain" }, element("thead", {}, head), element("tbody", {}, ...lines));
  const heading = element("h2", { id: "host-heading", tabindex: "-1" }, cohort.hosts[host]);
  $("host").replaceChildren(element("a", { href: "#part-0", class: "close" }, "close"), heading);
  $("host").append(element("p", {}, `${said}${together} Cohort ${cohort.id}: ${cohort.name}.`));
  if (differs.length) $("host").append(element("h3", {}, "What differs here"), element("ul", {}, ...differs));
  $("host").append(element("div", { class: "wide" }, table));
  $("host").hidden = false;
  $("host").scrollIntoView();
  heading.focus({ preventScroll: true });
}

/** The address says which host is open. */
function follow() {
  const [, cohort, host] = /^#host-(\d+)\.(\d+)$/.exec(location.hash) ?? [];
  if (data.cohorts[cohort]?.hosts[host] === undefined) $("host").hidden = true;
  else show(Number(cohort), Number(host));
}

// ---- Find

const FOUND = 20;

function find() {
  const wanted = $("find").value.trim().toLowerCase();
  const found = [];
  for (const [number, cohort] of wanted ? data.cohorts.entries() : []) {
    for (let host = 0; host < cohort.hosts.length && found.length < FOUND; host++) {
      if (cohort.hosts[host].toLowerCase().includes(wanted)) found.push(element("li", {}, linkTo(number, host)));
    }
  }
  $("found").replaceChildren(...found);
  $("count").value = !wanted ? "" : found.length === FOUND ? `the first ${FOUND}` : `${found.length} found`;
}

function filter() {
  const words = $("words").value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const { box, words: own } of charts.values()) box.hidden = !words.every((word) => own.includes(word));
}

for (const part of document.querySelectorAll(".scripted")) part.hidden = false;
$("filter").hidden = false;
$("filter").addEventListener("submit", (event) => event.preventDefault());
$("find").addEventListener("input", find);
$("words").addEventListener("input", filter);
document.addEventListener("painted", redraw);
addEventListener("resize", redraw);
addEventListener("hashchange", follow);
data.cohorts.forEach(addCohort);
follow();
