#!/usr/bin/env python3
"""The scores of the recipe dimabsa on 500 random cases, against the rules written out in Python.
dimabsa_score_test.py DUMP_DIMABSA_SCORES"""

import json
import math
import random
import subprocess
import sys

PHRASES = ["soup", "Soup", "SOUP", "bread", "NULL", "null", "Été", "ÉTÉ", "ж", "Ж", "İzmir", "料理", "a b"]
CATEGORIES = ["FOOD#QUALITY", "food#quality", "SERVICE#GENERAL"]
KEYS = {1: "Aspect_VA", 2: "Triplet", 3: "Quadruplet"}
WIDEST = math.sqrt(128)


def random_va(draw, outside):
    low, high = (0.0, 10.0) if outside and draw.random() < 0.3 else (1.0, 9.0)
    return f"{draw.uniform(low, high):.2f}#{draw.uniform(low, high):.2f}"


def random_tuple(draw, task, outside):
    one = {"Aspect": draw.choice(PHRASES), "VA": random_va(draw, outside)}
    if task > 1:
        one["Opinion"] = draw.choice(PHRASES[:6])
    if task == 3:
        one["Category"] = draw.choice(CATEGORIES)
    return one


def key_of(one, task):
    names = ["Aspect", "Opinion", "Category"][:task]
    return tuple(one[name].lower() for name in names)


def random_case(draw, task):
    """Gold and predicted lists of tuples by ID."""
    gold, predicted = {}, {}
    for i in range(draw.randint(1, 5)):
        gold[f"s{i}"] = [random_tuple(draw, task, False) for _ in range(draw.randint(0, 4))]
    for name, tuples in gold.items():
        if task > 1 and draw.random() < 0.15:
            continue
        found = [random_tuple(draw, task, True) for _ in range(draw.randint(0, 2))]
        for one in tuples:
            if task == 1 or draw.random() < 0.7:
                found.append({**one, "VA": random_va(draw, True)})
            if draw.random() < 0.15:
                found.append({**one, "VA": random_va(draw, True)})
        draw.shuffle(found)
        predicted[name] = found
    if draw.random() < 0.3 or not predicted:
        predicted["unknown"] = [random_tuple(draw, task, True) for _ in range(draw.randint(0, 2))]
    return gold, predicted


def va_of(one):
    return [float(number) for number in one["VA"].split("#")]


def tuple_scores(gold, predicted, task):
    credit = matched = gold_count = predicted_count = shared = gold_keys = predicted_keys = 0
    squared = []
    for name in sorted(set(gold) | set(predicted)):
        golds, founds = gold.get(name, []), predicted.get(name, [])
        gold_count += len(golds)
        predicted_count += len(founds)
        for one in golds:
            same = [other for other in founds if key_of(other, task) == key_of(one, task)]
            if len(same) != 1:
                continue
            matched += 1
            (gold_v, gold_a), (v, a) = va_of(one), va_of(same[0])
            squared.append((v - gold_v) ** 2 + (a - gold_a) ** 2)
            if 1 <= v <= 9 and 1 <= a <= 9:
                credit += max(0, 1 - math.hypot(v - gold_v, a - gold_a) / WIDEST)
        known, told = {key_of(one, task) for one in golds}, {key_of(one, task) for one in founds}
        shared, gold_keys, predicted_keys = shared + len(known & told), gold_keys + len(known), predicted_keys + len(told)
    scores = {}
    for prefix, hits, told, known in (("c", credit, predicted_count, gold_count), ("", shared, predicted_keys, gold_keys)):
        precision = hits / told if told else 0
        recall = hits / known if known else 0
        both = precision + recall
        scores |= {f"{prefix}precision": precision, f"{prefix}recall": recall,
                   f"{prefix}f1": 2 * precision * recall / both if both else 0}
    if squared:
        scores["rmse_va"] = math.sqrt(sum(squared) / len(squared))
    return scores


def pearson(x, y):
    if len(set(x)) < 2 or len(set(y)) < 2:
        return None
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    dx, dy = [a - mean_x for a in x], [b - mean_y for b in y]
    return sum(a * b for a, b in zip(dx, dy)) / math.sqrt(sum(a * a for a in dx) * sum(b * b for b in dy))


def aspect_scores(gold, predicted):
    pairs = []
    for name, tuples in gold.items():
        last = {one["Aspect"].lower(): va_of(one) for one in predicted[name]}
        pairs += [(*va_of(one), *last[one["Aspect"].lower()]) for one in tuples]
    if not pairs:
        return {}
    rmse = math.sqrt(sum((a - c) ** 2 + (b - d) ** 2 for a, b, c, d in pairs) / len(pairs))
    v, a, found_v, found_a = zip(*pairs)
    scores = {"rmse_va": rmse, "rmse_va_norm": rmse / WIDEST, "pearson_v": pearson(v, found_v), "pearson_a": pearson(a, found_a)}
    return {name: value for name, value in scores.items() if value is not None}


def jsonl(sentences, task):
    return "".join(json.dumps({"ID": name, "Text": "a text", KEYS[task]: tuples}) + "\n"
                   for name, tuples in sentences.items())


def main():
    draw = random.Random(23)
    cases = []
    for i in range(500):
        task = i % 3 + 1
        cases.append((task, *random_case(draw, task)))
    lines = [json.dumps({"task": task, "gold": jsonl(gold, task), "predicted": jsonl(predicted, task)})
             for task, gold, predicted in cases]
    run = subprocess.run([sys.argv[1]], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    outputs = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(outputs) == len(cases)
    credits = 0
    for (task, gold, predicted), ours in zip(cases, outputs):
        theirs = aspect_scores(gold, predicted) if task == 1 else tuple_scores(gold, predicted, task)
        assert (ours or {}).keys() == theirs.keys(), (task, gold, predicted, ours, theirs)
        for name, value in theirs.items():
            assert abs(ours[name] - value) < 1e-9, (name, task, gold, predicted, ours, theirs)
        credits += 0 < theirs.get("cf1", 0) < 1
    assert credits > 200, credits  # the cases are not trivial
    print(f"{len(cases)} cases agree")


if __name__ == "__main__":
    main()
