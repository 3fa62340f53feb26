"""dashboard.py SERVER DASHBOARD: whether each query of the dashboard returns data there, within half a minute, as Grafana asks it."""

import json
import sys
import time
import urllib.parse
import urllib.request

server, path = sys.argv[1:]
dashboard = json.load(open(path))
variables = {}


def ask(what, **parameters):
    query = urllib.parse.urlencode(parameters)
    with urllib.request.urlopen(f"{server}/api/v1/{what}?{query}", timeout=5) as answer:
        return json.load(answer)["data"]


def filled_in(text):
    for name, values in variables.items():
        text = text.replace(f"${name}", "(" + "|".join(values) + ")")
    return text


def values_of(variable):
    """What the variable stands for at first: one value, or all."""
    metric, label = variable["query"]["query"].removeprefix("label_values(").removesuffix(")").rsplit(", ", 1)
    found = ask(f"label/{label}/values", **{"match[]": filled_in(metric)})
    chosen = variable["current"]["value"]
    return found if chosen == ["$__all"] else [value for value in chosen if value in found]


def answer(target):
    expression = filled_in(target["expr"])
    if target["instant"]:
        return ask("query", query=expression)["result"]
    now = time.time()
    return ask("query_range", query=expression, start=now - 60, end=now, step=1)["result"]


def until_there(what, get):
    end = time.monotonic() + 30
    while not (found := get()):
        assert time.monotonic() < end, f"{what} has no data"
        time.sleep(0.5)
    return found


for variable in dashboard["templating"]["list"]:
    if variable["type"] == "query":
        variables[variable["name"]] = until_there(variable["name"], lambda: values_of(variable))
for panel in dashboard["panels"]:
    assert panel["description"] and panel["targets"], panel["title"]
    for target in panel["targets"]:
        found = until_there(panel["title"], lambda: answer(target))
        first = found[0].get("value") or found[0]["values"][-1]
        labels = {key: value for key, value in found[0]["metric"].items() if key in ("instance", "entry", "operation", "id", "level")}
        print(f"{panel['title']}: {len(found)} series, the first {first[1]} {labels}")
