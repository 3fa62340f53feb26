// What every page needs. Every text of a run is put in as text, never as markup.
"use strict";

const $ = (id) => document.getElementById(id);

/** An element with attributes and children; a child that is a string becomes text. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A color of the style sheet as the canvas needs it, in the theme of the moment. */
function color(name) {
  const probe = element("span");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

/** Numbers as the tables write them: no more than five digits. */
function digits(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "-";
  return Math.abs(value) >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(4)));
}

/** In a theme, or in the system's; who draws with its own colors hears of it. */
function paint(theme) {
  document.documentElement.dataset.theme = theme;
  document.dispatchEvent(new Event("painted"));
}

document.querySelector(".theme").hidden = false;
$("theme").addEventListener("change", () => paint($("theme").value));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => paint($("theme").value));
addEventListener("beforeprint", () => paint("light"));
addEventListener("afterprint", () => paint($("theme").value));
