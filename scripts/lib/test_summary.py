"""Says how many tests were skipped and why, and closes with the counts.

    test_summary.py RESULTS.xml [--again AGAIN.xml] [--planned N] [--record FILE]

AGAIN.xml: the results of those that had failed, run once more alone; who passed there is named and counts as passed.
N: so many tests were to run; those without a result had not begun when the time was over. FILE gets the counts, those
names and every skipped test by name as TOML; it is not written where no test ran.
"""

import argparse
import collections
import json
import os
import re
import sys
import xml.etree.ElementTree as xml


def reason(output):
    """The word that the test itself gave: of GTEST_SKIP, or of a line "skipped: ..."."""
    found = re.search(r": Skipped\n(.*?)\s*\n\[  SKIPPED \]", output, re.S)
    if found and found.group(1).strip():
        return " ".join(found.group(1).split())
    found = re.search(r"^\s*skipped:?\s*(.+)$", output, re.M | re.I)
    return found.group(1).strip() if found else "no reason given"


def judge(case):
    """passed, failed or skipped. A test that could not even start has failed."""
    status = case.get("status", "")
    if status == "run":
        return "passed"
    if status == "disabled":
        return "skipped"
    skipped = case.find("skipped")
    if "[  FAILED  ]" in (case.findtext("system-out") or ""):
        return "failed"
    if status == "notrun" and skipped is not None and "SKIP_" in skipped.get("message", ""):
        return "skipped"
    return "failed"


def read_results(path):
    """Names of tests by outcome; those that were skipped by reason."""
    names = {"passed": [], "failed": [], "skipped": collections.defaultdict(list)}
    if not os.path.exists(path):
        return names
    for case in xml.parse(path).getroot().iter("testcase"):
        outcome = judge(case)
        name = case.get("name").partition("  # GetParam()")[0]  # which CMake adds to the names of gtest
        if outcome == "skipped":
            why = "disabled" if case.get("status") == "disabled" else reason(case.findtext("system-out") or "")
            names["skipped"][why].append(name)
        else:
            names[outcome].append(name)
    return names


def write_record(path, counts, skipped, again):
    with open(path, "w", encoding="utf-8") as file:
        for outcome, count in counts.items():
            file.write(f"{outcome} = {count}\n")
        if again:
            file.write(f"passed_only_alone = {json.dumps(again)}\n")
        for why, names in sorted(skipped.items()):
            for name in sorted(names):
                file.write(f"\n[[left_out]]\ntest = {json.dumps(name)}\nwhy = {json.dumps(why)}\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("results")
    parser.add_argument("--again")
    parser.add_argument("--planned", type=int, default=0)
    parser.add_argument("--record")
    words = parser.parse_args()
    names = read_results(words.results)
    skipped = names["skipped"]
    passed_again = set(read_results(words.again)["passed"]) if words.again else set()
    again = [name for name in names["failed"] if name in passed_again]
    failed = [name for name in names["failed"] if name not in passed_again]
    counts = {
        "passed": len(names["passed"]) + len(again),
        "failed": len(failed),
        "skipped": sum(map(len, skipped.values())),
    }
    ran = sum(counts.values())
    unbegun = max(0, words.planned - ran)
    if unbegun:
        counts["not_begun"] = unbegun
    print()
    for why, tests in sorted(skipped.items(), key=lambda item: -len(item[1])):
        more = ", ..." if len(tests) > 3 else ""
        print(f"skipped {len(tests)}: {why} ({', '.join(tests[:3])}{more})")
    for name in again:
        print(f"passed only when it ran again, alone: {name}")
    for name in failed:
        print(f"failed: {name}")
    print(", ".join(f"{count} {outcome.replace('_', ' ')}" for outcome, count in counts.items()), flush=True)
    if words.record and ran:
        write_record(words.record, counts, skipped, again)
    return 0 if counts["passed"] and not counts["failed"] and not unbegun else 1


if __name__ == "__main__":
    sys.exit(main())
