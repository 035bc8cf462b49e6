#include "tools/cli/help/help_search.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "core/base/text/text.h"

namespace lockstep::cli {
namespace {

using Words = std::vector<std::string>;

constexpr double whole = 1, beginning = 0.97, literal = 0.95, most_by_words = 0.94;
constexpr double least_answer = 0.7, least_mention = 0.3, code_weight = 3;
// least letters of a query that may be the beginning of a longer word or title
constexpr std::size_t shortest_beginning = 4;

char in_small(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// The singular of the word, which is right for most words.
std::string stem(const std::string& word) {
  const bool is_plural = word.size() > 3 && word.ends_with('s') && !word.ends_with("ss");
  return is_plural ? word.substr(0, word.size() - 1) : word;
}

// Splits a text into words of letters and digits, and makes each one singular.
Words stems_in(std::string_view text) {
  Words words(1);
  for (const char c : text) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) != 0 || letter >= 0x80)
      words.back() += in_small(c);
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  for (std::string& word : words) word = stem(word);
  return words;
}

// Removes words without meaning, such as "the". Keeps them if there are no others.
Words telling(const Words& all) {
  static const std::set<std::string> small{"a",   "an",   "and",  "are",  "can",  "do",  "does",
                                           "for", "from", "how",  "i",    "in",   "is",  "it",
                                           "my",  "of",   "on",   "only", "or",   "the", "to",
                                           "too", "use",  "what", "why",  "when", "with"};
  Words words;
  std::copy_if(all.begin(), all.end(), std::back_inserter(words),
               [](const std::string& word) { return !small.contains(word); });
  return words.empty() ? all : words;
}

// Makes "Warm-up", "warm up" and "warmup" equal.
std::string squashed(std::string_view text) { return join(telling(stems_in(text)), ""); }

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = in_small(c);
  return small;
}

// Whether the word looks like code: "K_SHOT", "init.from", "mp.spawn", "T4x2". Nobody writes such
// words by chance.
bool is_code(std::string_view word) {
  bool has_letter = false, has_digit = false, has_mark = false;
  for (const char c : word) {
    has_letter |= std::isalpha(static_cast<unsigned char>(c)) != 0;
    has_digit |= std::isdigit(static_cast<unsigned char>(c)) != 0;
    has_mark |= std::string_view("_.:()=/").find(c) != std::string_view::npos;
  }
  return has_letter && (has_digit || has_mark);
}

struct AskedWord {
  Words stems;         // such as "k", "shot"
  std::string joined;  // such as "kshot"
  double weight = 1;
};

struct Query {
  std::string literal;  // the whole query in lower case
  bool has_code = false;
  std::string joined;
  std::vector<AskedWord> words;
};

bool is_name(const AskedWord& word) { return word.joined.size() > 3; }

// Changes "GPU0" and "gpu1" to "gpu", because symptoms apply to any GPU.
std::string without_gpu_numbers(const std::string& text) {
  constexpr std::string_view gpu = "gpu";
  Words words = split(text, ' ');
  for (std::string& word : words)
    if (lower(word).starts_with(gpu) &&
        word.find_first_not_of("0123456789", gpu.size()) == word.npos)
      word = gpu;
  return join(words, " ");
}

Query read_asked(const std::string& typed) {
  const std::string text = without_gpu_numbers(typed);
  Query asked{.literal = lower(trim(typed)), .joined = squashed(typed), .words = {}};
  for (const std::string& word : split(trim(text), ' ')) {
    const Words stems = stems_in(word);
    if (stems.empty()) continue;
    const bool code = is_code(word);
    asked.has_code |= code;
    asked.words.push_back({stems, join(stems, ""), code ? code_weight : 1});
  }
  const Words said = telling(stems_in(text));
  std::erase_if(asked.words, [&](const AskedWord& word) {
    return word.stems.size() == 1 &&
           std::find(said.begin(), said.end(), word.stems[0]) == said.end();
  });
  // In "-l 1" behind the name of a program, both words are that program's flag and value.
  if (std::any_of(asked.words.begin(), asked.words.end(), is_name))
    std::erase_if(asked.words, [](const AskedWord& word) { return word.joined.size() == 1; });
  return asked;
}

// Whether the text contains the query's words in sequence, in any spelling. For example, "unet" is
// in "3D U-Net".
bool has_words(const std::string& text, const std::string& joined) {
  const Words there = stems_in(text);
  for (std::size_t i = 0; i < there.size(); ++i) {
    std::string here;
    for (std::size_t j = i; j < there.size() && here.size() < joined.size(); ++j) here += there[j];
    if (here == joined) return true;
  }
  return false;
}

// Whether the pasted text contains the message `code`. A user may paste a whole line: "E0000 …]
// Unable to register cuDNN factory: …".
bool quotes(const std::string& pasted, const std::string& code) {
  constexpr std::size_t least_words = 3, least_letters = 10;
  const Words words = stems_in(code);
  const std::string joined = join(words, "");
  return words.size() >= least_words && joined.size() >= least_letters && has_words(pasted, joined);
}

// How well a term's words match one word of the query, from 0 to 1.
double match(const AskedWord& asked, const Words& there, const std::string& joined) {
  if (asked.joined == joined) return 1;
  double best = 0;
  for (const std::string& word : there) {
    if (word == asked.joined) return 1;
    if (asked.joined.size() >= shortest_beginning && word.starts_with(asked.joined)) best = 0.9;
  }
  const bool has_all = std::all_of(asked.stems.begin(), asked.stems.end(), [&](const auto& stem) {
    return std::find(there.begin(), there.end(), stem) != there.end();
  });
  return has_all ? 1 : best;
}

// The share of the query's words that a topic has, and the highest share that one of its terms has.
struct WordShares {
  double all = 0, in_one_term = 0;
};

WordShares word_shares(const Topic& topic, const Query& asked) {
  std::vector<double> best_of_word(asked.words.size(), 0);
  double best_term = 0, weights = 0, sum = 0;
  for (const AskedWord& word : asked.words) weights += word.weight;
  if (weights == 0) return {};
  for (const std::string& term : topic.terms) {
    const Words there = stems_in(term);
    const std::string joined = join(there, "");
    double in_term = 0;
    for (std::size_t i = 0; i < asked.words.size(); ++i) {
      const double here = match(asked.words[i], there, joined);
      best_of_word[i] = std::max(best_of_word[i], here);
      in_term += here * asked.words[i].weight;
    }
    best_term = std::max(best_term, in_term / weights);
  }
  for (std::size_t i = 0; i < asked.words.size(); ++i)
    sum += best_of_word[i] * asked.words[i].weight;
  return {.all = sum / weights, .in_one_term = best_term};
}

double score_by_words(const Topic& topic, const Query& asked) {
  const WordShares shares = word_shares(topic, asked);
  return most_by_words * (0.8 * shares.all + 0.2 * shares.in_one_term);
}

double score_of(const Topic& topic, const Query& asked) {
  for (const std::string& term : topic.terms)
    if (!asked.joined.empty() && squashed(term) == asked.joined)
      return topic.is_flag && asked.literal.starts_with('-') ? 2 * whole : whole;
  const bool begins_title =
      asked.joined.size() >= shortest_beginning && squashed(topic.title).starts_with(asked.joined);
  if (begins_title) return beginning;
  if (asked.has_code)
    for (const std::string& code : topic.code)
      if (lower(code).find(asked.literal) != std::string::npos) return literal;
  for (const std::string& code : topic.code)
    if (quotes(asked.literal, code)) return literal;
  return score_by_words(topic, asked);
}

// Topics that contain the query in their printed text, but in none of their terms.
std::vector<const Topic*> topics_that_say(const std::vector<Topic>& all, const std::string& asked) {
  constexpr int one_line = 1'000'000;
  const std::string joined = join(stems_in(asked), "");
  std::vector<const Topic*> found;
  if (joined.size() < shortest_beginning) return found;
  for (const Topic& topic : all) {
    std::string text = topic.text ? topic.text(one_line) : "";
    for (const std::string& code : topic.code) text += "\n" + code;
    if (has_words(text, joined)) found.push_back(&topic);
  }
  return found;
}

}  // namespace

std::vector<std::string> code_in(std::string_view text) {
  std::vector<std::string> code;
  for (std::size_t open = text.find('`'); open != text.npos;) {
    const std::size_t close = text.find('`', open + 1);
    if (close == text.npos) break;
    code.emplace_back(text.substr(open + 1, close - open - 1));
    open = text.find('`', close + 1);
  }
  return code;
}

namespace {

// Whether the first topic is clearly the best. One of its terms has most of the words, and far more
// than any other topic.
bool leads(const std::vector<std::pair<double, const Topic*>>& scored, const Query& asked) {
  constexpr double least = 0.55, ahead = 0.2;
  if (scored.empty() || word_shares(*scored.front().second, asked).in_one_term < least)
    return false;
  return scored.size() == 1 || scored[1].first <= scored.front().first - ahead;
}

}  // namespace

FoundTopics topics_about(const std::vector<Topic>& all, const std::string& asked_for) {
  const Query asked = read_asked(asked_for);
  std::vector<std::pair<double, const Topic*>> scored;
  const auto take = [&](bool flags, double least) {
    for (const Topic& topic : all)
      if (const double score = score_of(topic, asked); topic.is_flag == flags && score >= least)
        scored.emplace_back(score, &topic);
  };
  take(/*flags=*/false, least_mention);
  const bool is_answered = std::any_of(scored.begin(), scored.end(),
                                       [](const auto& one) { return one.first >= least_answer; });
  take(/*flags=*/true, is_answered ? whole : least_mention);
  std::stable_sort(scored.begin(), scored.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  constexpr double as_good = 0.05;
  FoundTopics found;
  for (const auto& [score, topic] : scored) {
    const bool is_best = score >= least_answer && score >= scored.front().first - as_good;
    (is_best ? found.best : found.others).push_back(topic);
  }
  if (found.best.empty()) found.best = topics_that_say(all, asked_for);
  if (found.best.empty() && leads(scored, asked)) {
    found.best.push_back(found.others.front());
    found.others.erase(found.others.begin());
  }
  return found;
}

}  // namespace lockstep::cli
