"""Says how many tests were skipped and why, and closes with the counts.

    test_summary.py RESULTS.xml [--records FOLDER] [--again AGAIN.xml [--records-again FOLDER]] [--planned N]
                    [--record FILE] [--failures FILE]

An entry of ctest is a test, or several of a gtest program, which then wrote FOLDER/ENTRY.tsv (tests/fakes/test_main.cpp):
tests are counted, not entries. AGAIN.xml: the results of those entries that had failed, run once more alone; who passed
there is named and counts as passed. N: so many entries were to run; those without a result had not begun when the time
was over. The record's FILE gets the counts, those names and every skipped test by name as TOML; it is not written where
no test ran. That of failures gets what each entry said that failed and did not pass alone, where it speaks of that.
"""

import argparse
import collections
import json
import os
import re
import sys
import xml.etree.ElementTree as xml


FAILURE = re.compile(r": Failure$|^Traceback |^(FAIL|ERROR): ")  # as gtest and Python's unittest begin one


class Names:
    """Names of tests by outcome; those that were skipped by reason; how many had not begun when their program ended."""

    def __init__(self):
        self.passed, self.failed, self.skipped, self.unbegun = [], [], collections.defaultdict(list), 0

    def skip(self, name, why):
        self.skipped[why or "no reason given"].append(name)


def reason(output):
    """The word that the test itself gave, in a line "skipped: ..."."""
    found = re.search(r"^\s*skipped:?\s*(.+)$", output, re.M | re.I)
    return found.group(1).strip() if found else ""


def judge(case):
    """passed, failed or skipped. A test that could not even start has failed."""
    status = case.get("status", "")
    if status in ("run", "disabled"):
        return {"run": "passed", "disabled": "skipped"}[status]
    skipped = case.find("skipped")
    return "skipped" if status == "notrun" and skipped is not None and "SKIP_" in skipped.get("message", "") else "failed"


def read_record(path, entry, entry_failed, names):
    """The tests of an entry, as its program wrote them down; entry_failed: what ctest says of the whole."""
    program = entry.partition("/")[0]
    planned = ended = 0
    running = None
    failed_before = len(names.failed)
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            word, *rest = line.rstrip("\n").split("\t")
            if word == "tests":
                planned = int(rest[0])
            elif word == "began":
                running = rest[0]
            elif word in ("passed", "failed", "skipped") and len(rest) > 1:
                running, ended = None, ended + 1
                name = f"{program}/{rest[1]}"
                if word == "skipped":
                    names.skip(name, " ".join(" ".join(rest[2:]).split()))
                else:
                    getattr(names, word).append(name)
    if running:
        names.failed.append(f"{program}/{running}")
        ended += 1
    elif entry_failed and len(names.failed) == failed_before:
        names.failed.append(entry)  # as it ended, or before its first test
    names.unbegun += max(0, planned - ended)


def read_results(path, records):
    names = Names()
    if not os.path.exists(path):
        return names
    for case in xml.parse(path).getroot().iter("testcase"):
        outcome, entry = judge(case), case.get("name")
        record = os.path.join(records, f"{entry}.tsv") if records else ""
        if os.path.isfile(record):
            read_record(record, entry, outcome == "failed", names)
        elif outcome == "skipped":
            names.skip(entry, "disabled" if case.get("status") == "disabled" else reason(case.findtext("system-out") or ""))
        else:
            getattr(names, outcome).append(entry)
    return names


def count_entries(path):
    return len(list(xml.parse(path).getroot().iter("testcase"))) if os.path.exists(path) else 0


def write_record(path, counts, skipped, again):
    with open(path, "w", encoding="utf-8") as file:
        for outcome, count in counts.items():
            file.write(f"{outcome} = {count}\n")
        if again:
            file.write(f"passed_only_alone = {json.dumps(again)}\n")
        for why, names in sorted(skipped.items()):
            for name in sorted(names):
                file.write(f"\n[[left_out]]\ntest = {json.dumps(name)}\nwhy = {json.dumps(why)}\n")


def write_failures(path, results, again):
    """Of each entry that failed 40 lines, from the first failure that it speaks of; of one that ran again, of then."""
    last = {}
    for source in filter(None, (results, again)):
        if os.path.exists(source):
            last.update((case.get("name"), case) for case in xml.parse(source).getroot().iter("testcase"))
    with open(path, "w", encoding="utf-8") as file:
        for entry, case in last.items():
            if judge(case) == "failed":
                said = (case.findtext("system-out") or "").rstrip().splitlines()
                first = next((at for at, line in enumerate(said) if FAILURE.search(line)), max(0, len(said) - 40))
                file.write("\n".join([f"{entry}:", *said[first : first + 40]]) + "\n\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("results")
    parser.add_argument("--records")
    parser.add_argument("--again")
    parser.add_argument("--records-again")
    parser.add_argument("--planned", type=int, default=0)
    parser.add_argument("--record")
    parser.add_argument("--failures")
    words = parser.parse_args()
    names = read_results(words.results, words.records)
    passed_again = set()
    if words.again:
        passed_again = set(read_results(words.again, words.records_again).passed)
    again = [name for name in names.failed if name in passed_again]
    failed = [name for name in names.failed if name not in passed_again]
    counts = {
        "passed": len(names.passed) + len(again),
        "failed": len(failed),
        "skipped": sum(map(len, names.skipped.values())),
    }
    ran = sum(counts.values())
    unbegun = names.unbegun + max(0, words.planned - count_entries(words.results))
    if unbegun:
        counts["not_begun"] = unbegun
    print()
    for why, tests in sorted(names.skipped.items(), key=lambda item: -len(item[1])):
        more = ", ..." if len(tests) > 3 else ""
        print(f"skipped {len(tests)}: {why} ({', '.join(tests[:3])}{more})")
    for name in again:
        print(f"passed only when it ran again, alone: {name}")
    for name in failed:
        print(f"failed: {name}")
    print(", ".join(f"{count} {outcome.replace('_', ' ')}" for outcome, count in counts.items()), flush=True)
    if words.record and ran:
        write_record(words.record, counts, names.skipped, again)
    if words.failures:
        write_failures(words.failures, words.results, words.again)
    return 0 if counts["passed"] and not counts["failed"] and not unbegun else 1


if __name__ == "__main__":
    sys.exit(main())
