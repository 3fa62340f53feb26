"""What a browser makes of the pages in a folder: see page.sh. Ends with 'N passed, N failed, 0 skipped'."""

import os
import sys
import time
from pathlib import Path

from browser import Browser

ENTER, TAB, RIGHT, END = "\ue007", "\ue004", "\ue014", "\ue010"

# Of every element with text of its own that is on screen and not off: where its contrast is below 4.5 (WCAG 2, level AA).
CONTRAST = """
const channel = (value) => { value /= 255; return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4; };
const parse = (color) => color.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const paper = (element) => {
  for (let each = element; each; each = each.parentElement) {
    const found = parse(getComputedStyle(each).backgroundColor);
    if (found.length === 3 || found[3] === 1) return found;
  }
  return [255, 255, 255];
};
const bad = new Map();
for (const element of document.body.querySelectorAll('*')) {
  const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!own || !element.checkVisibility() || element.closest('script, noscript, .skip')) continue;
  const style = getComputedStyle(element);
  const ink = parse(element instanceof SVGElement ? style.fill : style.color);
  const [a, b] = [light(ink), light(paper(element))].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  if (ratio < 4.5) bad.set(`${element.localName}.${element.getAttribute('class')}`, ratio.toFixed(2));
}
return [...bad].map(String);
"""

# Of tables in a place that scrolls: those that are wider than it.
SCROLLING = """
return [...document.querySelectorAll('.wide, .scroll')].filter((place) => place.checkVisibility() && place.scrollWidth > place.clientWidth)
  .map((place) => [place.querySelector('table').className, place.clientWidth, place.scrollWidth]);
"""

# Of charts in a row and of what is written along them: what reaches beyond them, and labels that touch each other.
BEYOND = """
const bad = [];
const reach = (element) => element.getBoundingClientRect();
for (const chart of document.querySelectorAll('svg.mark, svg.axis')) {
  if (!chart.checkVisibility() || reach(chart).width === 0) continue;
  const room = chart.matches('.axis') ? reach(chart.closest('table')) : reach(chart);
  const drawn = [...chart.querySelectorAll('line, rect, circle, text')].filter((each) => !each.closest('title') && reach(each).width + reach(each).height > 0);
  const beyond = drawn.filter((each) => reach(each).left < room.left - 0.5 || reach(each).right > room.right + 0.5);
  bad.push(...beyond.map((each) => `${each.localName}.${each.getAttribute('class')} ${each.textContent}`));
  const labels = chart.matches('.axis') ? drawn.map(reach) : [];
  labels.slice(1).forEach((label, place) => { if (label.left < labels[place].right + 2) bad.push(`labels ${place} and ${place + 1}`); });
}
return bad.slice(0, 5);
"""

# Whatever can take the focus, in the order of the page; a radio group or an iframe there is none.
FOCUSABLE = """
return [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
  .filter((element) => element.checkVisibility()).length;
"""


class Checks:
    def __init__(self, browser, folder):
        self.browser, self.folder = browser, Path(folder)
        self.passed = self.failed = 0
        self.page = None

    def check(self, name, holds, seen=""):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {self.page}: {name} {str(seen)[:600]}")

    def open(self, page, width=1280, height=900, scheme="light", kind="html"):
        self.page = f"{page}, {width} wide, {scheme}"
        self.url = (self.folder / f"{page}.{kind}").as_uri()
        self.browser.get(self.url, width, height, scheme)

    def quiet(self):
        """Nothing was said on the console, and nothing asked for but the page, since it was opened."""
        said, asked = self.browser.logs()
        self.check("the console is empty", not said, said)
        # The empty icon stands in the page itself.
        asked = [url for url in asked if url != "data:,"]
        self.check("nothing else is asked for", asked in ([self.url], []), asked)

    def picture(self, name):
        if os.environ.get("SCREENSHOTS"):
            time.sleep(0.3)
            self.browser.screenshot(Path(os.environ["SCREENSHOTS"]) / f"{name}.png")

    def run(self, script, *arguments):
        return self.browser.run(script, *arguments)

    def shown(self):
        return self.run("return document.querySelectorAll('tr.row:not([hidden])').length")

    def choose(self, control, value):
        self.run(
            "const control = document.getElementById(arguments[0]); control.value = arguments[1];"
            "control.dispatchEvent(new Event('change'))",
            control,
            value,
        )


def renders(t):
    t.open("ordinary")
    rows = t.shown()
    t.check("there are rows", rows > 80, rows)
    t.check("the count says so", t.run("return count.value") == f"{rows} of {rows} rows")
    t.check("one heading of the first level", t.run("return document.querySelectorAll('h1').length") == 1)
    levels = t.run("return [...document.querySelectorAll('h1, h2, h3, h4')].map((h) => Number(h.localName[1]))")
    t.check("no level of headings is left out", all(b - a <= 1 for a, b in zip(levels, levels[1:])), levels)
    ids = t.run("return [...document.querySelectorAll('[id]')].map((element) => element.id)")
    t.check("ids are unique", len(ids) == len(set(ids)))
    links = t.run("return [...document.querySelectorAll('a')].filter((a) => !document.querySelector(a.hash)).map(String)")
    t.check("links lead somewhere", not links, links)
    drawn = t.run("return [...document.querySelectorAll('#noise canvas')].map((c) => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(Boolean))")
    t.check("the noise is drawn", drawn == [True, True], drawn)
    marks = t.run("return document.querySelectorAll('.mark .estimate').length")
    t.check("every figure has its mark", marks >= rows - 2, (marks, rows))
    t.picture("light")
    t.quiet()


def filters(t):
    t.open("ordinary")
    rows = t.shown()
    t.run("words.focus()")
    t.browser.press(*"vdso getcpu")
    found = t.run("return [...document.querySelectorAll('tr.row:not([hidden]) th')].map((th) => th.querySelector('.entry').textContent + ' ' + th.querySelector('.operation').textContent)")
    t.check("rows have both words", found and all("vdso" in name and "getcpu" in name for name in found), found)
    t.check("the count says so", t.run("return count.value") == f"{len(found)} of {rows} rows")
    empty = t.run("return [...document.querySelectorAll('tbody.group')].filter((g) => !g.hidden && !g.querySelector('tr.row:not([hidden])')).length")
    t.check("no heading stands alone", empty == 0, empty)
    t.browser.press(*" nonsense")
    t.check("no row has these words", t.shown() == 0 and t.run("return !none.hidden"))
    t.run("document.getElementById('clear').click()")
    t.check("all rows are back", t.shown() == rows and t.run("return document.activeElement === words"))
    t.choose("show", "modes")
    modes = t.run("return [...document.querySelectorAll('tr.row:not([hidden])')].every((row) => row.querySelector('.modes'))")
    t.check("rows with several modes", 0 < t.shown() < rows and modes)
    t.choose("show", "")
    names = "return [...document.querySelectorAll('tr.row')].map((row) => row.id)"
    before = t.run(names)
    t.choose("order", "dear")
    costs = t.run("return [...document.querySelectorAll('tr.row')].map((row) => row.dataset.cost).filter(Boolean).map(Number)")
    t.check("the dearest are first", len(costs) > 80 and costs == sorted(costs, reverse=True), costs[:5])
    t.choose("order", "")
    t.check("the order is back", t.run(names) == before)
    t.quiet()


def opens(t):
    t.open("ordinary", height=1400)
    t.run("document.documentElement.style.scrollBehavior = 'auto'; document.querySelector('tr[data-is~=modes] .open').focus()")
    t.browser.press(ENTER)
    t.check("the row says that it is open", t.run("return document.activeElement.getAttribute('aria-expanded')") == "true")
    t.run("document.activeElement.scrollIntoView()")
    charts = t.run("return document.querySelectorAll('.detail canvas').length")
    t.check("two charts", charts == 2, charts)
    t.picture("row")
    place = t.run("const box = [...document.querySelectorAll('.detail .u-over')].at(-1).getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]")
    legend = "return [...[...document.querySelectorAll('.detail .u-legend')].at(-1).querySelectorAll('.u-value')].map((value) => value.textContent)"
    before = t.run(legend)
    t.browser.point(*place)
    after = t.browser.wait(f"const found = (() => {{ {legend} }})(); return found[0].endsWith(' s') && found")
    t.check("hovering tells the values", set(before) == {"--"} or set(before) == {"-"}, before)
    t.check("hovering tells the values", after and any(value not in ("-", "--") for value in after[1:]), after)
    titles = t.run("return [...document.querySelectorAll('.mark title')].every((title) => title.textContent.length > 5)")
    t.check("marks say what they are", titles)
    t.run("document.querySelector('.detail .plot').focus()")
    t.browser.press(RIGHT, RIGHT)
    heard = t.browser.wait("return document.querySelector('.detail .heard').textContent")
    t.check("arrow keys read the points", heard and "samples" in heard, heard)
    t.run("document.querySelector('#noise .plot').focus()")
    heard = []
    for _ in range(12):
        t.browser.press(RIGHT)
        heard.append(t.run("return document.querySelector('#noise .heard').textContent"))
    t.check("points of one moment are each read", len(set(heard)) > 1 and heard[0].startswith("at 0"), heard)
    t.browser.press(END)
    t.check("up to the last", t.run("return document.querySelector('#noise .heard').textContent") not in heard)
    t.run("document.querySelectorAll('.detail details').forEach((details) => { details.open = true })")
    table = t.browser.wait("const found = document.querySelectorAll('.detail details table'); return found.length === 2 && [...found].map((table) => table.tBodies[0].rows.length)")
    t.check("charts are there as tables", table and table[0] > 5 and table[1] == 48, table)
    t.run("document.querySelector('.detail').previousElementSibling.querySelector('.open').click()")
    t.check("it closes", t.run("return document.querySelector('.detail').hidden"))
    t.quiet()


def keyboard(t):
    t.open("ordinary")
    t.run("document.querySelector('.open').click()")
    count = t.run(FOCUSABLE)
    t.run("""window.seen = []; addEventListener('focusin', (event) => window.seen.push(event.target));
        document.activeElement.blur(); document.querySelector('h1').tabIndex = -1; document.querySelector('.skip').focus()""")
    t.browser.press(*[TAB] * (count - 1))
    reached, ordered = t.run("""const order = (a, b) => a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING;
        const unique = [...new Set(window.seen)];
        return [unique.length, unique.every((each, at) => at === 0 || order(unique[at - 1], each))]""")
    t.check("the keyboard reaches everything", reached == count, (reached, count))
    t.check("in the order of the page", ordered)
    t.browser.devtools("Accessibility.enable")
    tree = t.browser.devtools("Accessibility.getFullAXTree")["nodes"]
    roles = {"button", "combobox", "searchbox", "link", "table", "textbox", "columnheader", "rowheader"}
    unnamed = [
        node["role"]["value"]
        for node in tree
        if not node.get("ignored") and node.get("role", {}).get("value") in roles and not node.get("name", {}).get("value")
    ]
    t.check("everything has a name", not unnamed, unnamed)
    t.check("charts have names", t.run("return [...document.querySelectorAll('.plot')].every((plot) => plot.ariaLabel.length > 20)"))
    spoken = {node["role"]["value"] for node in tree if "role" in node}
    t.check("tables are tables", {"table", "row", "cell", "rowheader", "columnheader"} <= spoken, spoken)


def themes(t):
    paper = "return getComputedStyle(document.body).backgroundColor"
    for scheme, is_dark in (("light", False), ("dark", True)):
        t.open("noisy", scheme=scheme)
        t.run("document.querySelectorAll('.open')[3].click()")
        t.check("the paper is that of the theme", (t.run(paper) != "rgb(255, 255, 255)") == is_dark, t.run(paper))
        low = t.run(CONTRAST)
        t.check("text has enough contrast", not low, low)
        t.picture(f"noisy-{scheme}")
    chart = "const c = document.querySelector('#noise canvas'); return c.toDataURL()"
    before = t.run(chart)
    t.choose("theme", "light")
    t.check("the theme is chosen", t.run(paper) == "rgb(255, 255, 255)")
    t.check("charts follow", t.browser.wait(f"return (() => {{ {chart} }})() !== arguments[0]", before))
    t.quiet()
    t.open("noisy", scheme="dark")
    t.check("nothing remembers it", t.run("return theme.value") == "" and t.run(paper) != "rgb(255, 255, 255)")
    behavior = "return getComputedStyle(document.documentElement).scrollBehavior"
    t.check("it scrolls smoothly", t.run(behavior) == "smooth")
    t.browser.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    t.check("or not, as the reader prefers", t.run(behavior) == "auto")


def narrow(t):
    for page in ("ordinary", "several", "uneven", "refused", "noisy", "hybrid", "lab", "hostile", "here"):
        for width in (360, 390, 800, 1280):
            t.open(page, width=width)
            t.run("document.querySelectorAll('.open').forEach((open, number) => number % 20 || open.click());"
                  "document.querySelectorAll('details').forEach((details) => { details.open = true })")
            wide = t.run("return document.documentElement.scrollWidth")
            t.check("nothing is wider than the screen", wide <= width, wide)
            # What stands in a table that scrolls is not seen until somebody scrolls. Three runs, and names without an end, may.
            cut = t.run(SCROLLING)
            t.check("no table is wider than its place", not cut or (page in ("refused", "hostile") and width > 390), cut)
            beyond = t.run(BEYOND)
            t.check("no chart leaves its scale", not beyond, beyond)
            t.quiet()
    t.open("ordinary", width=360)
    t.run("document.documentElement.style.scrollBehavior = 'auto'; document.querySelector('#costs').scrollIntoView()")
    t.picture("narrow")


def folds(t):
    t.open("uneven")
    seen = "return [...document.querySelectorAll('.folded tr.row')].filter((row) => row.checkVisibility()).length"
    line = t.run("return document.querySelector('.folded > summary').textContent")
    rows = t.run("return document.querySelectorAll('.folded tr.row').length")
    t.check("the line says how many", rows > 0 and line.startswith(f"{rows} row"), line)
    names = t.run("return [...document.querySelectorAll('.folded tr.row .name')].map((name) => name.textContent)")
    t.check("and which", all(name in line for name in names), (names, line))
    height = t.run("const line = document.querySelector('.folded > summary'); return line.getBoundingClientRect().height / parseFloat(getComputedStyle(line).lineHeight)")
    t.check("it is one line", height < 1.5, height)
    t.check("its rows are folded", t.run(seen) == 0)
    drawn = t.run("return document.querySelectorAll('.folded .estimate').length")
    t.check("what has no figure has no mark", drawn == 0, drawn)
    without = t.run("return [...document.querySelectorAll('table.costs:not(.folded table) tr.row')].filter((row) => !row.querySelector('.mark .estimate, .mark .off, .verdict.switched')).length")
    t.check("all others have one", without == 0, without)
    t.run("words.focus()")
    t.browser.press(*names[0])
    t.check("who looks for one finds it", t.run(seen) == 1, t.run(seen))
    t.run("document.getElementById('clear').click()")
    t.check("and then it is folded again", t.run(seen) == 0)
    t.choose("order", "differs")
    t.check("whatever the order", t.run("return document.querySelectorAll('.folded tr.row').length") == rows)
    t.run("document.querySelector('.folded').open = true; document.documentElement.style.scrollBehavior = 'auto'; document.querySelector('.folded').scrollIntoView()")
    t.picture("folded")
    t.quiet()


def several(t):
    t.open("several", height=1400)
    t.picture("comparison")
    answer = t.run("return document.querySelector('#comparison .answer').innerText")
    kernel = t.run("return [...document.querySelectorAll('.differing tr')].map((row) => row.innerText).find((text) => text.includes('kernel'))")
    t.check("and what else differs", kernel and "6.19.0" in kernel and "cause" in kernel, kernel)
    t.check("differences are shown", t.run("return [...document.querySelectorAll('td.number')].some((td) => td.textContent.startsWith('+12.0 % ('))"))
    told = t.run("return [...document.querySelectorAll('tr.row')].every((row) => row.querySelector('.verdict')?.checkVisibility())")
    t.check("every row has a verdict", told)
    slower = t.run("return [...document.querySelectorAll('.verdict.slower')].map((each) => each.closest('tr').querySelector('th').textContent + ': ' + each.textContent)")
    t.check("one got slower", len(slower) == 1 and "getppid" in slower[0] and slower[0].endswith(": slower"), slower)
    t.check("the answer names it", answer.startswith("Yes: 1 of ") and "most of all syscall-x86_64 getppid (+" in answer, answer)
    rows = t.shown()
    tags = t.run("return [...show.options].filter((option) => option.text.startsWith('verdict: ')).map((option) => option.value)")
    counts = []
    for tag in tags:
        t.choose("show", tag)
        counts.append(t.shown())
        fits = t.run("return [...document.querySelectorAll('tr.row:not([hidden])')].every((row) => row.querySelector('.verdict').classList.contains(arguments[0]))", tag)
        t.check(f"rows with the verdict {tag}", fits and counts[-1] > 0)
    t.check("each row has one verdict", len(tags) > 1 and sum(counts) == rows, (tags, counts, rows))
    t.choose("show", "")
    t.choose("order", "verdict")
    places = t.run("return [...document.querySelectorAll('tr.row')].map((row) => Number(row.dataset.verdict))")
    t.check("the verdicts that matter are first", len(set(places)) > 1 and places == sorted(places), places)
    t.run("document.documentElement.style.scrollBehavior = 'auto'; document.querySelector('#costs').scrollIntoView()")
    t.picture("verdicts")
    t.choose("order", "differs")
    first = t.run("return document.querySelector('tr.row .entry').textContent")
    t.check("the greatest difference is first", first == "syscall-x86_64", first)
    t.picture("several")
    t.run("document.querySelector('.open').click()")
    charts = t.run("return document.querySelectorAll('.detail canvas').length")
    t.check("each run has its charts", charts == 4, charts)
    said = t.run("return document.querySelector('.detail').innerText")
    t.check("an open row says what the verdict rests on", "Against A: " in said and "% confidence" in said, said)
    low = t.run(CONTRAST)
    t.check("text has enough contrast", not low, low)
    t.quiet()


def refuses(t):
    t.open("refused")
    texts = t.run("return [...document.querySelectorAll('#comparison .answer, #comparison .alarm')].map((each) => each.innerText)")
    t.check("one is compared, one is not", len(texts) == 2 and texts[1].startswith("Not compared: "), texts)
    t.check("no verdict on what is not compared", t.run("return document.querySelectorAll('tr.row td:nth-last-child(2) .verdict').length") == 0)
    t.quiet()


def lab(t):
    t.open("lab")
    text = t.run("return document.body.innerText")
    t.check("figures are called emulated", "instructions, emulated" in text and "no time" in text)
    t.check("no noise is shown", t.run("return document.querySelector('#noise') === null"))
    t.run("document.querySelector('.open').click()")
    t.check("a row opens", "instructions, emulated" in t.run("return document.querySelector('.detail').innerText"))
    t.quiet()


def injects_nothing(t):
    census = """document.querySelectorAll('.open').forEach((open) => open.click());
        document.querySelectorAll('.detail details').forEach((details) => { details.open = true });
        const names = {}; for (const each of document.querySelectorAll('*')) names[each.localName] = (names[each.localName] || 0) + 1;
        const attributes = new Set(); for (const each of document.querySelectorAll('*')) for (const one of each.attributes) attributes.add(one.name);
        return [names, [...attributes].sort()]"""
    t.open("harmless-pair")
    harmless = t.run(census)
    t.open("hostile-pair")
    hostile = t.run(census)
    t.check("no element comes out of a text of a comparison", hostile == harmless, [a for a in hostile if a not in harmless])
    t.check("there is one", t.run("return document.querySelector('#comparison h3').textContent.includes('hostile.json')"))
    t.check("no script ran", t.run("return window.injected === undefined"))
    t.quiet()
    t.open("harmless")
    harmless = t.run(census)
    t.open("hostile")
    hostile = t.run(census)
    t.check("no element comes out of a text", hostile == harmless, [a for a in hostile if a not in harmless])
    t.check("there are rows to look at", harmless[0]["tr"] > 20, harmless[0]["tr"])
    t.check("no script ran", t.run("return window.injected === undefined"))
    text = t.run("return document.body.textContent")
    t.check("texts are shown as they are", "</script><img src=x onerror=" in text)
    steering = [c for c in text if (ord(c) < 32 and c not in "\n\t") or c in "\u202e\u2066\u200b\u2028\x7f"]
    t.check("nothing steers or hides", not steering, steering[:5])
    t.run("words.value = '<img'; words.dispatchEvent(new Event('input'))")
    t.check("the filter takes it as text", t.shown() > 0)
    t.quiet()
    # The policy holds even against what would run here: that this page could fail.
    refused = t.run("try { document.createElement('script').text = 'window.injected = 3'; return false } catch (error) { return true }")
    t.check("no text becomes a script", refused)
    t.run("addEventListener('securitypolicyviolation', (event) => { window.violated = event.violatedDirective }); new Image().src = 'http://127.0.0.1:9/x'")
    t.check("nothing can be loaded", t.browser.wait("return window.violated") == "img-src")
    said, asked = t.browser.logs()
    t.check("and the console would have said so", any("Content Security Policy" in line for line in said), said)


def prints(t):
    t.open("ordinary", scheme="dark")
    t.run("document.querySelector('.open').click()")
    pdf = t.browser.pdf()
    t.check("it prints", pdf.startswith(b"%PDF-") and len(pdf) > 20_000, len(pdf))
    t.check("the theme is back after", t.run("return document.documentElement.dataset.theme") == "")
    t.browser.devtools("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    t.check("paper is white", t.run("return getComputedStyle(document.documentElement).colorScheme") == "light")
    visible = t.run("return ['#filter', 'nav', '.theme'].filter((name) => document.querySelector(name).checkVisibility())")
    t.check("what is for hands is not printed", not visible, visible)
    t.browser.devtools("Emulation.setEmulatedMedia", media="")


def without_script(t):
    t.browser.devtools("Emulation.setScriptExecutionDisabled", value=True)
    t.open("ordinary")
    t.browser.devtools("DOM.enable")
    root = t.browser.devtools("DOM.getDocument", depth=0)["root"]["nodeId"]
    html = t.browser.devtools("DOM.getOuterHTML", nodeId=root)["outerHTML"]
    t.check("rows are there without the script", html.count('class="row"') > 80)
    t.check("what needs it is hidden", 'id="filter" role="search" aria-label="Rows" hidden' in html)
    t.picture("without-script")
    t.browser.devtools("Emulation.setScriptExecutionDisabled", value=False)


# Of a box of a flame graph with its name on it: where the contrast of the two is below 4.5.
NAMES = """
const channel = (value) => { value /= 255; return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4; };
const parse = (color) => color.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const color = (fill) => fill.startsWith('url') ? getComputedStyle(document.querySelector(fill.match(/#[^")]+/)[0] + ' rect')).fill : fill;
const bad = new Map();
for (const name of document.querySelectorAll('.name')) {
  const box = name.parentElement.querySelector('rect');
  const [a, b] = [name, box].map((each) => light(parse(color(getComputedStyle(each).fill)))).sort((x, y) => y - x);
  if ((a + 0.05) / (b + 0.05) < 4.5) bad.set(box.getAttribute('class'), ((a + 0.05) / (b + 0.05)).toFixed(2));
  if (name.getBBox().x + name.getBBox().width > box.getBBox().x + box.getBBox().width + 1) bad.set(name.textContent, 'beyond its box');
}
return [...bad].map(String);
"""

# Of a picture: texts that reach beyond it or into a figure, and those whose contrast on its paper is below 4.5.
PICTURE = """
const channel = (value) => { value /= 255; return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4; };
const parse = (color) => color.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const paper = light(parse(getComputedStyle(document.querySelector('.paper')).fill));
const [, , width, height] = document.documentElement.getAttribute('viewBox').split(' ').map(Number);
const bad = [];
for (const text of document.querySelectorAll('text')) {
  const box = text.getBBox();
  const beyond = box.x < 0 || box.x + box.width > width || box.y < 0 || box.y + box.height > height;
  const into = text.matches('.name, .said') && box.x + box.width > (text.matches('.name') ? 250 : 850);
  const [a, b] = [light(parse(getComputedStyle(text).fill)), paper].sort((x, y) => y - x);
  const faint = !text.matches('.letter') && (a + 0.05) / (b + 0.05) < 4.5;
  if (beyond || into || faint) bad.push([text.textContent, beyond, into, faint]);
}
return bad;
"""


def pictures(t):
    for name in ("counted", "cycles", "shrinking", "nothing", "many", "hostile"):
        for scheme in ("light", "dark"):
            t.open(f"bill-{name}", scheme=scheme, kind="svg")
            t.check("it is a picture with a title", t.run("return document.documentElement.localName + document.title").startswith("svgkentry bill: "))
            bad = t.run(PICTURE)
            t.check("every text has room, and can be read", not bad, bad[:3])
            t.check("nothing of it is markup", t.run("return [...document.querySelectorAll('script, img, a, foreignObject')].length") == 0)
            t.check("no script ran", t.run("return window.injected === undefined"))
            t.quiet()
            t.picture(f"bill-{name}-{scheme}")
    flames(t)
    kernels(t)
    reproductions(t)
    t.open("bill-hostile", kind="svg")
    t.check("there are bars", t.run("return document.querySelectorAll('rect.step-0').length") > 0)
    light, dark = [], []
    for scheme, seen in (("light", light), ("dark", dark)):
        t.open("bill-counted", scheme=scheme, kind="svg")
        seen.append(t.run("return getComputedStyle(document.querySelector('.paper')).fill"))
    t.check("it is dark where the reader's screen is", light != dark, light + dark)


def flames(t):
    parts = "return [...new Set([...document.querySelectorAll(arguments[0])].flatMap((box) => [...box.classList].filter((each) => each.startsWith('part-'))))].sort()"
    for name in ("one", "two", "hostile"):
        for scheme in ("light", "dark"):
            t.open(f"anatomy-{name}", scheme=scheme, kind="svg")
            legend, drawn = t.run(parts, ".swatch rect"), t.run(parts, ".path rect")
            t.check("the legend has the parts that are drawn", legend == drawn and legend, (legend, drawn))
            fills = t.run("return [...document.querySelectorAll('.swatch rect')].map((box) => getComputedStyle(box).fill)")
            t.check("each has a filling of its own", len(set(fills)) == len(legend) and "none" not in fills, fills)
            t.check("names can be read, and stay within their boxes", not t.run(NAMES), t.run(NAMES))
            t.check("nothing of it is markup", t.run("return [...document.querySelectorAll('script, img, a, foreignObject')].length") == 0)
            t.check("no script ran", t.run("return window.injected === undefined"))
            t.quiet()
            t.picture(f"anatomy-{name}-{scheme}")


def kernels(t):
    for name in ("made-up", "hostile"):
        for scheme in ("light", "dark"):
            t.open(f"kernels-{name}", scheme=scheme, kind="svg")
            t.check("it is a picture with a title", t.run("return document.documentElement.localName + document.title").startswith("svgkentry linux: "))
            bad = t.run(PICTURE)
            t.check("every text has room, and can be read", not bad, bad[:3])
            lines = t.run("return [...document.querySelectorAll('.kernel')].map((each) => [each.querySelector('.number').textContent, each.querySelectorAll('.bar').length, each.querySelectorAll('.said').length])")
            t.check("what is unknown has no bar, but a reason", len(lines) == 16 and all((figure == "-") == (bars == 0) == (said == 1) for figure, bars, said in lines), lines)
            beyond = t.run("return [...document.querySelectorAll('.bar, .interval')].map((each) => each.getBBox()).filter((box) => box.x < 249.9 || box.x + box.width > 790.1).length")
            t.check("no bar leaves its scale", beyond == 0, beyond)
            legend = t.run("return [...document.querySelectorAll('.swatch rect')].map((box) => box.classList[0])")
            drawn = t.run("return [...new Set([...document.querySelectorAll('.bar')].map((bar) => bar.classList[1]))]")
            t.check("the legend has what is drawn", sorted(legend) == sorted(drawn), (legend, drawn))
            t.check("nothing of it is markup", t.run("return [...document.querySelectorAll('script, img, a, foreignObject')].length") == 0)
            t.check("no script ran", t.run("return window.injected === undefined"))
            t.quiet()
            t.picture(f"kernels-{name}-{scheme}")


def reproductions(t):
    bars = "return [...document.querySelectorAll('.panel')].map((panel) => [...new Set([...panel.querySelectorAll('.bar')].map((bar) => bar.classList[1]))])"
    for name in ("gettimeofday-4.14", "l4re-null", "pti-costs"):
        for scheme in ("light", "dark"):
            t.open(f"reproduce-{name}", scheme=scheme, kind="svg")
            bad = t.run(PICTURE)
            t.check("every text has room, and can be read", not bad, bad[:3])
            kinds = t.run(bars)
            t.check("counts stand alone", kinds and all("counted" not in each or each == ["counted"] for each in kinds), kinds)
            t.check("the lab's counts are drawn", (["counted"] in kinds) == (name == "pti-costs"), kinds)
            legend = t.run("return [...document.querySelectorAll('.swatch rect')].map((box) => box.classList[0])")
            t.check("the legend has what is drawn", sorted(legend) == sorted({kind for each in kinds for kind in each}), (legend, kinds))
            unknown = t.run("return [...document.querySelectorAll('.panel > g')].filter((g) => (g.querySelector('.number').textContent === '-') && g.querySelector('.bar')).length")
            t.check("what is unknown has no bar", unknown == 0, unknown)
            beyond = t.run("return [...document.querySelectorAll('.bar, .interval')].map((each) => each.getBBox()).filter((box) => box.x < 249.9 || box.x + box.width > 790.1).length")
            t.check("no bar leaves its scale", beyond == 0, beyond)
            t.quiet()
            t.picture(f"reproduce-{name}-{scheme}")


def catalogue(t):
    cells = "return [...document.querySelectorAll('#measured tbody tr')].filter((row) => !row.hidden).map((row) => row.cells[arguments[0]].dataset.key ?? null)"
    for scheme in ("light", "dark"):
        t.open("catalogue/index", scheme=scheme)
        t.check("both tables are there", t.run("return [...document.querySelectorAll('.matrix')].map((each) => each.id)") == ["measured", "counted"])
        low = t.run(CONTRAST)
        t.check("text has enough contrast", not low, low)
        t.picture(f"catalogue-{scheme}")
    # A column in which some line has no figure.
    column = t.run("const has = (row, column) => row.cells[column].dataset.key !== undefined; const lines = [...document.querySelectorAll('#measured tbody tr')]; return [...document.querySelectorAll('#measured thead th')].findIndex((th, column) => th.matches('.column') && !lines.every((row) => has(row, column)) && lines.filter((row) => has(row, column)).length > 1)")
    given = t.run(cells, column)
    press = "document.querySelectorAll('#measured thead .sort')[arguments[0]].click(); return document.querySelectorAll('#measured thead th')[arguments[0]].getAttribute('aria-sort')"
    t.check("a press orders", t.run(press, column) == "ascending")
    ascending = t.run(cells, column)
    known = [float(key) for key in ascending if key is not None]
    t.check("the least is first", len(known) > 1 and known == sorted(known), ascending)
    t.check("lines without a figure are last", None in ascending and ascending[len(known):] == [None] * (len(ascending) - len(known)), ascending)
    t.check("a second press turns it round", t.run(press, column) == "descending")
    descending = t.run(cells, column)
    t.check("the greatest is first", [float(key) for key in descending if key is not None] == known[::-1], descending)
    t.check("and what has no figure is still last", descending[-1] is None, descending)
    t.check("a third press brings the order back", t.run(press, column) is None and t.run(cells, column) == given)
    chosen = "const control = document.getElementById(arguments[0]); control.value = arguments[1]; control.dispatchEvent(new Event(control.localName === 'select' ? 'change' : 'input')); return document.querySelectorAll('.matrix:not([hidden]) tbody tr:not([hidden])').length"
    lines = t.run(chosen, "machines", "")
    t.check("the count says how many there are", t.run("return count.value") == f"{lines} of {lines} lines")
    t.check("a vendor chooses", 0 < t.run(chosen, "vendor", "AuthenticAMD") < lines)
    t.run(chosen, "vendor", "")
    t.check("a kind of figures chooses", 0 < t.run(chosen, "measure", "counted") < lines and t.run("return measured.hidden"))
    t.run(chosen, "measure", "")
    t.run(chosen, "columns", "vdso")
    shown = t.run("return [...document.querySelectorAll('#measured thead .column')].filter((th) => !th.hidden).map((th) => th.textContent)")
    t.check("words choose entries", shown and all("vdso" in name for name in shown), shown)
    widths = t.run("return [...document.querySelectorAll('#measured tr')].map((row) => [...row.cells].filter((cell) => !cell.hidden).length)")
    t.check("lines keep to their heads", len(set(widths)) == 1, widths)
    t.run(chosen, "columns", "")
    t.check("nonsense chooses nothing", t.run(chosen, "machines", "nonsense") == 0)
    t.quiet()
    t.open("catalogue/index", width=360)
    t.check("a narrow page does not scroll", t.run("return document.documentElement.scrollWidth") <= 360)
    t.picture("catalogue-narrow")
    t.open("catalogue/index")
    # A link of a figure leads to the row that it is of.
    figure = t.run("const link = document.querySelector('#measured td[data-key] a'); link.click(); return link.textContent")
    there = t.browser.wait("return document.querySelector('tr:target') && document.querySelector('tr:target').innerText")
    t.check("a figure leads to its row", there and figure in there, (figure, there))
    low = t.run(CONTRAST)
    t.check("text has enough contrast", not low, low)
    t.picture("catalogue-run")
    for page in sorted(t.folder.glob("catalogue-hostile/**/*.html")):
        t.open(str(page.relative_to(t.folder)).removesuffix(".html"))
        t.check("no element comes out of a text", t.run("return document.querySelectorAll('img').length") == 0)
        t.check("no script ran", t.run("return window.injected === undefined"))
        t.quiet()


def fleet(t):
    for scheme in ("light", "dark"):
        t.open("fleet", height=1600, scheme=scheme)
        t.run("strips.scrollIntoView()")
        drawn = "const all = [...document.querySelectorAll('.strips canvas')].slice(0, 3); return all.length === 3 && all.every((c) => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(Boolean))"
        t.check("rows are drawn", t.browser.wait(drawn))
        low = t.run(CONTRAST)
        t.check("text has enough contrast", not low, low)
        t.picture(f"fleet-{scheme}")
    first = t.run("return [...document.querySelectorAll('.strips figure')].map((figure) => figure.textContent.includes('odd:'))")
    t.check("rows with odd hosts are first", first == sorted(first, reverse=True) and any(first) and not all(first), first)
    t.run("document.querySelector('[data-part=odd] a').click()")
    heading = t.browser.wait("return !host.hidden && host.querySelector('h2').textContent")
    t.check("an odd host opens", heading == "host-00001", heading)
    row = t.run("return [...host.querySelector('tr.odd').cells].map((cell) => cell.textContent)")
    t.check("with its rows", row[0] == "syscall-x86_64 getppid" and row[1].startswith("14") and row[3] == "core cycles" and row[6] == "60 of 60", row)
    t.check("and what differs there", "frequency governor" in t.run("return host.innerText"))
    t.check("its address says so", t.run("return location.hash") == "#host-0.1")
    t.picture("fleet-host")
    t.run("const control = document.getElementById('find'); control.value = 'HOST-00059'; control.dispatchEvent(new Event('input')); found.querySelector('a').click()")
    t.check("any host is found", t.browser.wait("return host.querySelector('h2').textContent === 'host-00059' && host.innerText.includes('Not odd')"))
    t.run("document.querySelector('#host .close').click()")
    t.check("a host closes", t.browser.wait("return host.hidden"))
    t.run("words.value = 'vdso'; words.dispatchEvent(new Event('input'))")
    shown = t.run("return [...document.querySelectorAll('.strips figure:not([hidden]) .name')].map((name) => name.textContent)")
    t.check("words choose rows", shown == ["vdso-x86_64 clock_gettime-monotonic"], shown)
    t.run("words.value = ''; words.dispatchEvent(new Event('input'))")
    place = t.run("const canvas = document.querySelector('.strips canvas'); canvas.scrollIntoView({ block: 'center', behavior: 'instant' }); const box = canvas.getBoundingClientRect(); return [box.x, box.y, box.width, box.height]")
    t.run("document.querySelector('.strips canvas').dispatchEvent(new MouseEvent('click', { clientX: arguments[0], clientY: arguments[1] }))", place[0] + place[2] - 6, place[1] + 20)
    t.check("a press on a chart opens the host there", t.browser.wait("return !host.hidden && host.querySelector('h2').textContent === 'host-00001'"))
    t.quiet()
    t.open("fleet", width=360)
    t.check("a narrow page does not scroll", t.run("return document.documentElement.scrollWidth") <= 360)
    t.open("rollout")
    t.check("a roll-out has its tables", "slower" in t.run("return document.body.innerText") and t.run("return document.querySelectorAll('table').length") >= 4)
    low = t.run(CONTRAST)
    t.check("text has enough contrast", not low, low)
    t.picture("rollout")
    t.quiet()
    for page in ("fleet-hostile", "rollout-hostile"):
        t.open(page)
        t.run("location.hash = document.querySelector('[data-part=odd] a')?.hash ?? ''")
        t.check("no element comes out of a text", t.run("return document.querySelectorAll('img').length") == 0)
        t.check("no script ran", t.run("return window.injected === undefined"))
        t.quiet()


def large_fleet(t):
    t.open("fleet-large")
    times = t.browser.wait("const [page] = performance.getEntriesByType('navigation'); return page.loadEventEnd > 0 && [page.domInteractive, page.loadEventEnd]")
    began = time.monotonic()
    t.run("location.hash = '#host-0.1'")
    opened = t.browser.wait("return !host.hidden")
    t.check("a host opens", opened)
    size = (t.folder / "fleet-large.html").stat().st_size
    hosts = t.run("return data.cohorts[0].hosts.length")
    print(f"a fleet of {hosts} hosts and 165 rows: {size / 1e6:.1f} MB, loaded in {times[1] / 1000:.2f} s, a host opens in {time.monotonic() - began:.2f} s")
    t.quiet()


def main(folder):
    with Browser() as browser:
        t = Checks(browser, folder)
        for test in (renders, filters, opens, keyboard, themes, narrow, folds, several, refuses, lab, injects_nothing, prints, without_script, pictures, catalogue, fleet, large_fleet):
            try:
                test(t)
            except Exception as error:  # One that cannot go on does not end the others.
                t.check(test.__name__, False, repr(error))
    print(f"{t.passed} passed, {t.failed} failed, 0 skipped")
    return t.failed > 0


sys.exit(main(sys.argv[1]))
