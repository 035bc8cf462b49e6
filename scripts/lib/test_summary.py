"""Says how many tests were skipped and why, and closes with the counts: test_summary.py RESULTS.xml"""

import collections
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


def main():
    counts = collections.Counter(passed=0, failed=0, skipped=0)
    reasons = collections.defaultdict(list)
    failed = []
    if os.path.exists(sys.argv[1]):
        for case in xml.parse(sys.argv[1]).getroot().iter("testcase"):
            outcome = judge(case)
            counts[outcome] += 1
            if outcome == "failed":
                failed.append(case.get("name"))
            elif outcome == "skipped":
                why = "disabled" if case.get("status") == "disabled" else reason(case.findtext("system-out") or "")
                reasons[why].append(case.get("name"))
    print()
    for why, names in sorted(reasons.items(), key=lambda item: -len(item[1])):
        more = ", ..." if len(names) > 3 else ""
        print(f"skipped {len(names)}: {why} ({', '.join(names[:3])}{more})")
    for name in failed:
        print(f"failed: {name}")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped", flush=True)
    return 0 if counts["passed"] and not counts["failed"] else 1


if __name__ == "__main__":
    sys.exit(main())
