"""Tables of a simulated fleet in DuckDB and in ClickHouse: every value, and the queries of docs/fleet.md. Run in the folder that has `fleet`.

    parquet.py PAGE [--times]

Prints sums as other tests do; with --times, how long each query takes instead of what it says.
"""

import datetime
import glob
import json
import math
import re
import sys
import time

import chdb.session
import duckdb

UTC = datetime.timezone.utc
# What only the lines need: a table has its own version, and its count of rows.
LINES_ONLY = {"schema", "kind", "rows"}
passed = failed = 0


def check(what, good, said=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAILED {what}: {str(said)[:400]}")


class DuckDB:
    name = "duckdb"

    def __init__(self):
        self.connection = duckdb.connect()

    def run(self, sql):
        cursor = self.connection.execute(sql)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, map(plain, record))) for record in cursor.fetchall()]


class ClickHouse:
    name = "clickhouse"

    def __init__(self):
        self.session = chdb.session.Session()
        self.session.query("CREATE DATABASE fleet")
        self.session.query("USE fleet")

    def run(self, sql):
        # Whole numbers of 64 bits are texts in its JSON otherwise.
        settings = " SETTINGS output_format_json_quote_64bit_integers = 0" if not sql.startswith("CREATE") else ""
        said = str(self.session.query(sql + settings, "JSONEachRow"))
        return [json.loads(line) for line in said.splitlines() if line]


def plain(value):
    """As JSON would have it, and as ClickHouse writes times."""
    if isinstance(value, datetime.datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
    if isinstance(value, datetime.date):
        return value.isoformat()
    return value


def lines(kind):
    """What the same summaries say as lines, by run and place."""
    for path in sorted(glob.glob("fleet/*/*/lines.ndjson")):
        with open(path) as file:
            for line in map(json.loads, file):
                if line["kind"] == kind:
                    yield line


def expected_time(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).strftime("%Y-%m-%d %H:%M:%S.%f")


def values(engine):
    """Every value of both tables equals the lines'."""
    for kind, key in (("runs", ["run_id"]), ("rows", ["run_id", "entry", "operation"])):
        table = "runs" if kind == "runs" else "results"
        by_key = {tuple(line[part] for part in key): line for line in lines(kind[:-1])}
        records = engine.run(f"SELECT * FROM {table}")
        check(f"{engine.name}: all {kind} are there, and none twice", len(records) == len(by_key), len(records))
        wrong, compared, nulls = [], 0, 0
        for record in records:
            line = by_key[tuple(record[part] for part in key)]
            for field, value in line.items():
                if field in LINES_ONLY:
                    continue
                wanted = expected_time(value) if field == "started" else value
                compared, nulls = compared + 1, nulls + (value is None)
                if record[field] != wanted or (record[field] is None) != (value is None):
                    wrong.append((field, record[field], wanted))
        check(f"{engine.name}: values of {kind}", not wrong, wrong[:3])
        check(f"{engine.name}: some of {kind} are null", 0 < nulls < compared, (nulls, compared))


def queries(page):
    """Headings, and under each the SQL of each engine. What stands before the first prepares."""
    with open(page) as file:
        sections = re.split(r"^### (.*)\n", file.read().split("\n## Queries\n")[1], flags=re.M)
    fences = lambda text: {engine: sql for engine, sql in re.findall(r"^```sql (\w+)\n(.*?)^```", text, flags=re.M | re.S)}
    return fences(sections[0]), list(zip(sections[1::2], map(fences, sections[2::2])))


def alike(one, other):
    """The same records, but for the last digits of numbers."""
    def same(a, b):
        if isinstance(a, float) or isinstance(b, float):
            return a is not None and b is not None and math.isclose(a, b, rel_tol=1e-9, abs_tol=1.1e-3)
        return a == b
    return len(one) == len(other) and all(
        a.keys() == b.keys() and all(same(a[name], b[name]) for name in a) for a, b in zip(one, other)
    )


def hosts():
    """What the generator made of each host: its number, by the order of the lines in their cohort."""
    kinds = ["AuthenticAMD-25-17-1", "GenuineIntel-6-85-4", "GenuineIntel-6-143-8", "AuthenticAMD-25-1-1"]
    numbers = {}
    for place, kind in enumerate(kinds):
        with open(sorted(glob.glob(f"fleet/*/cohort={kind}/lines.ndjson"))[0]) as file:
            runs = [line for line in map(json.loads, file) if line["kind"] == "run"]
        for number, run in enumerate(runs):
            numbers[run["machine_id"]] = place + len(kinds) * number
    return numbers


CALLS = {("syscall-x86_64", "none"), ("syscall-x86_64", "getppid"), ("syscall-x86_64", "clock_gettime-monotonic"),
         ("libc", "getrandom"), ("int80-i386", "getppid"), ("sysenter-i386", "getppid")}


def truth(numbers):
    """For each query, in the page's order, whether its answer is the truth of the simulated fleet."""
    odd = lambda place: {machine for machine, number in numbers.items() if number % 100 == place}
    named = lambda records: {record["machine_id"] for record in records}

    def rolled_out(records):
        for record in records:
            is_slow = "6130" in record["cpu_brand"] and (record["entry"], record["operation"]) in CALLS
            if not math.isclose(record["ratio"], 1.12 if is_slow else 1.0, abs_tol=0.01):
                return False
        return len(records) > 50

    def closed(records):
        on_all = {r["cohort"] for r in records if r["entry"] == "sysenter-i386" and r["part"] > 0.9}
        off = [r for r in records if "ia32_emulation" in r["reason"] and r["entry"] == "int80-i386"]
        return on_all == {"AuthenticAMD-25-17-1", "AuthenticAMD-25-1-1"} and [r["runs"] for r in off] == [len(odd(83))]

    return [
        lambda records: len({r["kernel_release"] for r in records}) == 2 and all(r["ns"] > 0 for r in records),
        lambda records: named(records) == odd(20) | odd(41)
        and all(math.isclose(r["ratio"], 4 / 3, rel_tol=0.06) for r in records if r["machine_id"] in odd(41)),
        lambda records: named(records) == odd(20) and {r["clocksource"] for r in records} == {"hpet"}
        and {r["path"] for r in records} == {"kernel"} and all(r["nanoseconds"] > 1000 for r in records),
        rolled_out,
        closed,
        lambda records: sum(r["hosts"] for r in records) == len(numbers)
        and [r["meltdown"] for r in records].count("Mitigation: PTI") == 1,
        lambda records: named(records) == odd(62) and all(math.isclose(r["a_day"], 0.01, abs_tol=0.003) for r in records),
        lambda records: {"id": "clock-served", "level": "warning", "hosts": len(odd(20))} in records
        and {"id": "mitigations", "level": "note", "hosts": len(numbers)} in records,
        lambda records: [(r["command_line"], r["hosts"]) for r in records] == [("ia32_emulation=off quiet ro", len(odd(83)))],
        lambda records: {r["noise"] for r in records} == {"shared"},
    ]


def answer(title, engine, sql):
    """What an engine says to a query of the page; nothing where it refuses it."""
    try:
        return engine.run(sql.strip().rstrip(";"))
    except (duckdb.Error, RuntimeError) as error:
        check(f"{title} {engine.name}", False, error)
        return []


def main():
    page, times = sys.argv[1], "--times" in sys.argv
    prepare, asked = queries(page)
    engines = [DuckDB(), ClickHouse()]
    for engine in engines:
        for sql in filter(str.strip, prepare[engine.name].split(";")):
            engine.run(sql.strip()) if engine.name == "clickhouse" else engine.connection.execute(sql)
    if times:
        for title, sql in asked:
            for engine in engines:
                begun = time.monotonic()
                count = len(answer(title, engine, sql[engine.name]))
                print(f"{engine.name}: {title} {count} records in {time.monotonic() - begun:.2f} s")
        return
    for engine in engines:
        values(engine)
    truths = truth(hosts())
    check("ten queries, in both", len(asked) == 10 and all(set(sql) == {"duckdb", "clickhouse"} for _, sql in asked), asked)
    for (title, sql), is_true in zip(asked, truths, strict=True):
        said = [answer(title, engine, sql[engine.name]) for engine in engines]
        check(f"{title} both say the same", alike(*said), [records[:2] for records in said])
        for engine, records in zip(engines, said):
            check(f"{title} {engine.name} says what is true", is_true(records), records[:3])
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


main()
