#!/usr/bin/env python3
"""Makes quadruplets for task 3 from sentences with aspects and polarities (MAMS-ATSA as jsonl).

    make_tuples.py INPUT.jsonl OUTPUT.jsonl

Each input line is {"ID", "Text", "Aspects": [{"Aspect", "From", "To", "Polarity"}]}. Aspects are real:
people marked them. All else is MADE, by the rules below, so that a model has something to learn and a
test something to measure. Scores on it say nothing about real data of the shared task.

Opinion   The nearest word of the list OPINIONS within 8 words of the aspect, in the same clause
          (. ! ? ; : and the word "but" end one), whose valence agrees with the polarity: above 5.5
          for positive, below 4.5 for negative, between for neutral. The word behind goes before the
          word in front of the aspect at the same distance. With an adverb of ADVERBS or a negation
          right before it, that belongs to the opinion. Without such a word: NULL.
VA        Of the opinion word, by the list. An adverb multiplies the distance of the valence from 5
          and adds to the arousal; a negation mirrors the valence at 5 with 0.6 of the distance.
          NULL: positive 6.80#5.40, negative 3.00#5.80, neutral 5.00#4.20. Within 1 to 9.
Category  The entity by the first word of the aspect, from its end, that is in ENTITIES, else FOOD.
          The attribute: PRICES where the opinion is about money or the entity says so;
          STYLE_OPTIONS for what is offered; QUALITY for FOOD and DRINKS; else GENERAL.
A tuple whose aspect and opinion the sentence has already is left out.
"""

import json
import re
import sys

WINDOW = 8
NULL = "NULL"
OPINIONS = {
    # word: (valence, arousal)
    "amazing": (8.3, 7.8), "authentic": (7.2, 5.4), "awesome": (8.2, 7.7), "beautiful": (7.7, 6.0),
    "best": (8.4, 7.2), "charming": (7.3, 5.6), "clean": (6.9, 4.6), "comfortable": (7.0, 4.4),
    "cozy": (7.2, 4.6), "crisp": (7.0, 5.6), "crispy": (7.0, 5.6), "cool": (7.0, 5.8),
    "cute": (6.9, 5.4), "delicious": (8.1, 7.0), "enjoyable": (7.4, 5.9), "excellent": (8.1, 7.0),
    "exceptional": (8.2, 7.2), "fabulous": (8.1, 7.4), "fantastic": (8.2, 7.6), "fast": (6.6, 5.8),
    "flavorful": (7.5, 6.2), "fresh": (7.4, 5.8), "friendly": (7.5, 5.8), "fun": (7.6, 6.8),
    "generous": (7.3, 5.8), "good": (7.0, 5.5), "great": (7.8, 6.8), "happy": (7.6, 6.4),
    "helpful": (7.3, 5.2), "hot": (6.2, 6.0), "impressive": (7.6, 6.6), "incredible": (8.3, 7.7),
    "interesting": (6.6, 5.6), "juicy": (7.3, 6.0), "knowledgeable": (7.2, 5.0), "large": (6.2, 5.0),
    "lovely": (7.5, 6.0), "nice": (6.8, 5.0), "outstanding": (8.3, 7.3), "perfect": (8.4, 7.3),
    "pleasant": (6.9, 4.6), "polite": (7.0, 4.7), "popular": (6.8, 5.8), "prompt": (6.9, 5.4),
    "quick": (6.6, 5.6), "rich": (6.9, 5.8), "romantic": (7.4, 6.0), "special": (7.0, 6.0),
    "spectacular": (8.2, 7.7), "superb": (8.2, 7.1), "sweet": (6.8, 5.6), "tasty": (7.5, 6.2),
    "tender": (7.2, 5.4), "terrific": (8.0, 7.3), "unique": (7.0, 5.8), "warm": (6.8, 5.0),
    "wonderful": (8.0, 7.2), "attentive": (7.3, 5.3), "ample": (6.6, 4.8), "favorite": (7.8, 6.4),
    "loved": (8.0, 7.0), "enjoyed": (7.6, 6.2), "recommend": (7.5, 6.0), "moist": (6.8, 5.2),
    "better": (6.9, 5.8), "enjoy": (7.5, 6.0), "love": (8.0, 7.0), "recommended": (7.4, 5.8),
    "worth": (7.0, 5.8), "yummy": (7.7, 6.6), "huge": (6.4, 6.0), "spicy": (6.2, 6.2),
    "cheap": (6.2, 5.2), "affordable": (6.9, 5.0), "reasonable": (6.7, 4.8), "inexpensive": (6.8, 5.0),
    "average": (4.8, 4.1), "decent": (5.5, 4.4), "fine": (5.5, 4.2), "okay": (5.2, 4.0),
    "ok": (5.2, 4.0), "ordinary": (4.6, 4.0), "standard": (4.9, 4.0), "typical": (4.8, 4.0),
    "regular": (5.0, 4.0), "small": (4.5, 4.6), "basic": (4.6, 4.1), "simple": (5.4, 4.2),
    "busy": (4.6, 5.8), "usual": (5.0, 4.0), "full": (5.3, 4.8), "separate": (5.0, 4.0),
    "awful": (1.8, 7.0), "bad": (2.6, 5.6), "bitter": (3.0, 5.4), "bland": (3.1, 4.5),
    "boring": (3.3, 4.3), "burnt": (2.6, 5.8), "cold": (3.2, 5.2), "cramped": (3.2, 5.4),
    "crowded": (3.6, 5.9), "dirty": (2.0, 6.6), "disappointed": (2.5, 5.9),
    "disappointing": (2.4, 5.9), "disgusting": (1.4, 7.9), "dry": (3.2, 4.9), "dull": (3.2, 4.2),
    "forgot": (2.7, 6.1), "greasy": (2.9, 5.4), "horrible": (1.5, 7.5), "inattentive": (2.6, 5.6),
    "lacking": (3.2, 5.0), "limited": (3.7, 4.7), "loud": (3.3, 6.3), "mediocre": (3.9, 4.4),
    "noisy": (3.1, 6.2), "oily": (3.0, 5.3), "overcooked": (2.7, 5.6), "poor": (2.8, 5.2),
    "rude": (1.9, 7.2), "salty": (3.1, 5.6), "slow": (2.8, 5.6), "soggy": (2.7, 5.4),
    "stale": (2.5, 5.3), "tasteless": (2.5, 5.3), "terrible": (1.6, 7.2), "tiny": (3.4, 5.2),
    "tough": (3.1, 5.4), "undercooked": (2.6, 5.8), "unfriendly": (2.3, 6.2), "waited": (3.2, 5.8),
    "adequate": (5.1, 4.0), "available": (5.2, 4.0), "empty": (3.7, 4.6), "hard": (3.6, 5.4),
    "ignored": (2.3, 6.2), "long": (3.6, 5.2), "refused": (2.2, 6.6), "rushed": (2.8, 6.2),
    "spilled": (2.6, 6.2), "worst": (1.4, 7.7), "wrong": (2.9, 5.9), "expensive": (3.2, 5.8), "overpriced": (2.3, 6.4),
    "pricey": (3.4, 5.5),
}
ABOUT_MONEY = {"cheap", "affordable", "reasonable", "inexpensive", "expensive", "overpriced", "pricey"}
ADVERBS = {
    # adverb: (factor of the valence's distance from 5, added to the arousal)
    "very": (1.25, 0.8), "really": (1.25, 0.8), "so": (1.25, 0.9), "extremely": (1.4, 1.3),
    "incredibly": (1.4, 1.3), "absolutely": (1.35, 1.2), "too": (1.2, 0.7), "super": (1.3, 1.0),
    "quite": (1.1, 0.3), "pretty": (0.9, 0.1), "fairly": (0.7, -0.4), "somewhat": (0.6, -0.6),
    "slightly": (0.5, -0.8),
}
NEGATIONS = {"not", "never", "n't", "hardly"}
BY_POLARITY = {"positive": (6.8, 5.4), "negative": (3.0, 5.8), "neutral": (5.0, 4.2)}
ENTITIES = {
    "SERVICE": "service staff waiter waiters waitress waitresses server servers owner manager bartender "
               "bartenders hostess host chef delivery reservation reservations wait busboy employee "
               "employees people attitude kitchen crew gratuity",
    "DRINKS": "drink drinks wine wines beer beers cocktail cocktails coffee tea water martini martinis "
              "margarita margaritas sake bar soda juice sangria champagne vodka mojito",
    "AMBIENCE": "ambience ambiance atmosphere decor music table tables seat seats seating room space "
                "interior patio garden lighting crowd dining vibe noise bathroom floor chairs setting",
    "LOCATION": "location neighborhood street view area block parking",
    "RESTAURANT": "restaurant place spot joint price prices bill check cost value dinner lunch brunch "
                  "meal experience money",
}
ENTITY_OF = {word: entity for entity, words in ENTITIES.items() for word in words.split()}
MONEY_NOUNS = {"price", "prices", "bill", "check", "cost", "money", "value", "gratuity"}
OFFER_NOUNS = {"menu", "menus", "selection", "portion", "portions", "options", "list", "choices", "variety"}
WORD = re.compile(r"n't|\w+?(?=n't)|[^\W_]+(?:['’][^\W_]+)*|[.!?;:]")
CLAUSE_ENDS = {".", "!", "?", ";", ":", "but"}


def words_of(text):
    """(lower-cased word, begin, end) of each word and each mark that ends a clause."""
    return [(match.group().lower(), match.start(), match.end()) for match in WORD.finditer(text)]


def around(words, begin, end):
    """Places of words near [begin, end), the nearest first, those behind it before those in front."""
    behind = [i for i, word in enumerate(words) if word[1] >= end]
    before = [i for i, word in enumerate(words) if word[2] <= begin][::-1]
    sides = []
    for side in (behind, before):
        reach = []
        for place in side[:WINDOW]:
            if words[place][0] in CLAUSE_ENDS:
                break
            reach.append(place)
        sides.append(reach)
    for distance in range(WINDOW):
        for reach in sides:
            if distance < len(reach):
                yield reach[distance]


def agrees(valence, polarity):
    if polarity == "positive":
        return valence > 5.5
    if polarity == "negative":
        return valence < 4.5
    return 4.5 <= valence <= 5.5


def within(number):
    return min(9.0, max(1.0, number))


def modified(words, place):
    """The opinion at a place with what stands before it: its first place, valence, arousal."""
    valence, arousal = OPINIONS[words[place][0]]
    before = words[place - 1][0] if place > 0 else ""
    if before in ADVERBS:
        factor, added = ADVERBS[before]
        return place - 1, within(5 + (valence - 5) * factor), within(arousal + added)
    if before in NEGATIONS:
        return place - 1, within(5 - (valence - 5) * 0.6), arousal
    return place, valence, arousal


def opinion_of(text, words, aspect):
    """(opinion, its list word, valence, arousal) for an aspect."""
    begin, end, polarity = aspect["From"], aspect["To"], aspect["Polarity"]
    for place in around(words, begin, end):
        if words[place][0] not in OPINIONS:
            continue
        first, valence, arousal = modified(words, place)
        if words[first][1] < end and words[place][2] > begin:
            first = place  # what stands before it belongs to the aspect
            valence, arousal = OPINIONS[words[place][0]]
        if agrees(valence, polarity):
            return text[words[first][1]:words[place][2]], words[place][0], valence, arousal
    return (NULL, "", *BY_POLARITY[polarity])


def category_of(aspect, opinion_word):
    words = re.findall(r"\w+", aspect.lower())[::-1]
    entity = next((ENTITY_OF[word] for word in words if word in ENTITY_OF), "FOOD")
    if opinion_word in ABOUT_MONEY or MONEY_NOUNS.intersection(words):
        return f"{entity}#PRICES"
    if entity in ("FOOD", "DRINKS"):
        return f"{entity}#STYLE_OPTIONS" if OFFER_NOUNS.intersection(words) else f"{entity}#QUALITY"
    return f"{entity}#GENERAL"


def quadruplets_of(sentence):
    text = sentence["Text"]
    words = words_of(text)
    tuples, seen = [], set()
    for aspect in sentence["Aspects"]:
        phrase = text[aspect["From"]:aspect["To"]]
        opinion, word, valence, arousal = opinion_of(text, words, aspect)
        if (phrase.lower(), opinion.lower()) in seen:
            continue
        seen.add((phrase.lower(), opinion.lower()))
        tuples.append({"Aspect": phrase, "Opinion": opinion, "Category": category_of(phrase, word),
                       "VA": f"{valence:.2f}#{arousal:.2f}"})
    return tuples


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    sentences = tuples = implied = 0
    with open(arguments[0], encoding="utf-8") as source, open(arguments[1], "w", encoding="utf-8") as out:
        for line in source:
            if not line.strip():
                continue
            sentence = json.loads(line)
            found = quadruplets_of(sentence)
            out.write(json.dumps({"ID": sentence["ID"], "Text": sentence["Text"], "Quadruplet": found},
                                 ensure_ascii=False) + "\n")
            sentences += 1
            tuples += len(found)
            implied += sum(one["Opinion"] == NULL for one in found)
    print(f"{sentences} sentences, {tuples} made tuples, {implied} of them with a NULL opinion", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
