#include "tools/cli/words/command_words.h"

#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::cli {
namespace {

constexpr std::string_view gaps = " \t\n";

std::string in_quotes(std::string_view text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

// The purpose for which a shell uses this character if it is not quoted.
std::string_view shells_business(char c, bool begins_word) {
  switch (c) {
    case '|':
      return "a pipe";
    case '<':
    case '>':
      return "a redirection";
    case '&':
    case ';':
      return "several commands";
    case '$':
      return "a variable";
    case '`':
    case '(':
    case ')':
      return "a command within";
    case '*':
    case '?':
    case '[':
      return "a pattern of file names";
    case '~':
      return begins_word ? "a home folder" : "";
    case '#':
      return begins_word ? "a comment" : "";
    default:
      return "";
  }
}

class WordReader {
 public:
  WordReader(std::string_view text, const std::string& what) : text_(text), what_(what) {}

  std::vector<std::string> words() {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (gaps.find(c) != gaps.npos)
        end_word();
      else
        take(c);
    }
    end_word();
    return std::move(words_);
  }

 private:
  void take(char c) {
    const bool begins = !word_;
    refuse_shell(shells_business(c, begins), c);
    if (begins) word_.emplace();
    if (c == '\'')
      take_single();
    else if (c == '"')
      take_double();
    else if (c == '\\')
      take_escaped();
    else
      *word_ += c;
  }

  void take_single() {
    const std::size_t end = text_.find('\'', at_);
    if (end == text_.npos) throw_open('\'');
    *word_ += text_.substr(at_, end - at_);
    at_ = end + 1;
  }

  void take_double() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return;
      }
      if (c == '$' || c == '`') refuse_shell(shells_business(c, false), c);
      const bool escapes = c == '\\' && at_ + 1 < text_.size() &&
                           std::string_view("$`\"\\\n").find(text_[at_ + 1]) != text_.npos;
      if (escapes) ++at_;
      if (!escapes || text_[at_] != '\n') *word_ += text_[at_];
    }
    throw_open('"');
  }

  void take_escaped() {
    if (at_ == text_.size()) throw Error(cat(what_, " ends with a backslash: ", text_));
    if (text_[at_] != '\n') *word_ += text_[at_];
    ++at_;
  }

  void end_word() {
    if (word_) words_.push_back(std::move(*word_));
    word_.reset();
  }

  [[noreturn]] void throw_open(char quote) const {
    throw Error(cat(what_, " has a ", quote, " that is not closed: ", text_));
  }

  void refuse_shell(std::string_view business, char c) const {
    if (business.empty()) return;
    throw Error(cat(what_, " runs without a shell, but has ", business, " (", c, "): ", text_),
                cat("quote it if the program shall get it as it is, or call a shell yourself: ",
                    in_quotes("sh -c " + in_quotes(text_))));
  }

  std::string_view text_;
  const std::string& what_;
  std::size_t at_ = 0;
  std::optional<std::string> word_;  // the word that is being read
  std::vector<std::string> words_;
};

bool sets_variable(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == 0 || equals == word.npos) return false;
  for (const char c : word.substr(0, equals))
    if (!(c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
      return false;
  return word[0] < '0' || word[0] > '9';
}

}  // namespace

std::vector<std::string> command_words(std::string_view text, const std::string& what) {
  if (text.find('\0') != text.npos) throw Error(cat(what, " has a character of value 0"));
  std::vector<std::string> words = WordReader(text, what).words();
  if (words.empty() || words[0].empty())
    throw Error(cat(what, " is empty"), "give a program and its arguments: 'sleep 0.1'");
  if (sets_variable(words[0]))
    throw Error(cat(what, " begins with the variable ", words[0], ", which only a shell sets"),
                cat("put env before it: ", in_quotes("env " + std::string(text))));
  return words;
}

}  // namespace lockstep::cli
