#!/usr/bin/env python3
"""The rules of recipes/dimabsa/data/make_tuples.py. dimabsa_tuples_test.py MAKE_TUPLES_PY"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
script = pathlib.Path(sys.argv[1])
spec = importlib.util.spec_from_file_location("make_tuples", script)
make_tuples = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make_tuples)


def made(text, *aspects):
    """Tuples as (aspect, opinion, category, VA)."""
    marked = [{"Aspect": phrase, "From": text.index(phrase), "To": text.index(phrase) + len(phrase),
               "Polarity": polarity} for phrase, polarity in aspects]
    tuples = make_tuples.quadruplets_of({"ID": "1", "Text": text, "Aspects": marked})
    return [tuple(one[key] for key in ("Aspect", "Opinion", "Category", "VA")) for one in tuples]


def check(found, expected):
    assert found == expected, f"{found} instead of {expected}"


def check_rules():
    check(made("The soup was great.", ("soup", "positive")), [("soup", "great", "FOOD#QUALITY", "7.80#6.80")])
    # The valence must agree with the polarity.
    check(made("The soup was great.", ("soup", "negative")), [("soup", "NULL", "FOOD#QUALITY", "3.00#5.80")])
    check(made("We had soup.", ("soup", "neutral")), [("soup", "NULL", "FOOD#QUALITY", "5.00#4.20")])
    # The nearest, and behind the aspect first.
    check(made("Great bread and good soup, really fresh.", ("soup", "positive")),
          [("soup", "good", "FOOD#QUALITY", "7.00#5.50")])
    check(made("good soup great", ("soup", "positive")), [("soup", "great", "FOOD#QUALITY", "7.80#6.80")])
    # Adverbs and negations belong to it.
    check(made("The waiter was very rude!", ("waiter", "negative")),
          [("waiter", "very rude", "SERVICE#GENERAL", "1.12#8.00")])
    check(made("The staff isn't friendly", ("staff", "negative")),
          [("staff", "n't friendly", "SERVICE#GENERAL", "3.50#5.80")])
    # A clause ends at "but" and at marks.
    check(made("The soup came, but the bread was good.", ("soup", "positive"), ("bread", "positive")),
          [("soup", "NULL", "FOOD#QUALITY", "6.80#5.40"), ("bread", "good", "FOOD#QUALITY", "7.00#5.50")])
    # Money decides the attribute; so does what is offered.
    check(made("The wine list is long and the beer overpriced.", ("wine list", "neutral"), ("beer", "negative")),
          [("wine list", "NULL", "DRINKS#STYLE_OPTIONS", "5.00#4.20"), ("beer", "overpriced", "DRINKS#PRICES", "2.30#6.40")])
    # Once each.
    check(len(made("soup, soup", ("soup", "neutral"), ("soup", "neutral"))), 1)


def check_file(source):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.jsonl"
        subprocess.run([sys.executable, script, source, out], check=True, capture_output=True)
        lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == len(source.read_text(encoding="utf-8").splitlines())
    for line in lines:
        for one in line["Quadruplet"]:
            assert all(one[key] == "NULL" or one[key] in line["Text"] for key in ("Aspect", "Opinion")), line
            assert all(1 <= float(number) <= 9 for number in one["VA"].split("#")), line


check_rules()
real = pathlib.Path(os.environ.get("LOCKSTEP_TEST_DATA", "/nowhere")) / "dimabsa/mams_atsa/val.jsonl"
if real.exists():
    check_file(real)
print("the rules hold")
