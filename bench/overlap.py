"""What communication costs a step, from the trace of one rank (profile.first_step).

Usage: python3 bench/overlap.py TRACE STEPS
Prints, a step: time from first to last kernel, time of communication kernels, and the part of it in
which no other kernel ran (exposed); then every collective with its start within the first step,
and the longest times in which nothing ran.
"""
import json
import sys


def gpu_events(path):
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    kinds = ("kernel", "gpu_memcpy", "gpu_memset")
    return sorted((e for e in events if e.get("cat") in kinds), key=lambda e: e["ts"])


def merged(events):
    spans = []
    for event in events:
        begin, end = event["ts"], event["ts"] + event["dur"]
        if spans and begin <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], end)
        else:
            spans.append([begin, end])
    return spans


def length(spans):
    return sum(end - begin for begin, end in spans)


def covered(span, others):
    return sum(max(0, min(span[1], end) - max(span[0], begin)) for begin, end in others)


def main():
    path, steps = sys.argv[1], int(sys.argv[2])
    events = gpu_events(path)
    is_comm = [("nccl" in e["name"].lower()) for e in events]
    comm = [e for e, c in zip(events, is_comm) if c]
    work = merged([e for e, c in zip(events, is_comm) if not c])
    spans = merged(comm)
    exposed = length(spans) - sum(covered(span, work) for span in spans)
    all_spans = merged(events)
    whole = all_spans[-1][1] - all_spans[0][0]
    idle = whole - length(all_spans)
    print(f"{whole / steps / 1e3:.3f} ms a step, communication {length(spans) / steps / 1e3:.3f} ms, "
          f"exposed {exposed / steps / 1e3:.3f} ms ({100 * exposed / whole:.2f} %), "
          f"nothing running {idle / steps / 1e3:.3f} ms")
    begin = events[0]["ts"]
    for event in comm[: max(1, len(comm) // steps)]:
        span = (event["ts"], event["ts"] + event["dur"])
        alone = event["dur"] - covered(span, work)
        print(f"  at {(span[0] - begin) / 1e3:8.3f} ms for {event['dur']:8.1f} us, exposed {alone:8.1f} us  {event['name'][:60]}")
    gaps = []
    for last, event in zip(events, events[1:]):
        end = max(last["ts"] + last["dur"], gaps[-1][3] if gaps else 0)
        gaps.append((event["ts"] - end, last, event, max(end, event["ts"])))
    for gap, last, event, _ in sorted(gaps, key=lambda g: -g[0])[:10]:
        print(f"  nothing for {gap:6.1f} us at {(event['ts'] - begin) / 1e3:8.3f} ms, "
              f"between {last['name'][:50]} and {event['name'][:50]}")


main()
