// Reads a TOML file as a tree. No other file includes the parser.
#include "core/config/toml_tree.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <toml.hpp>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"
#include "core/config/other_form.h"

namespace lockstep::detail {
namespace {

using Toml = toml::basic_value<toml::discard_comments, std::map, std::vector>;

// Returns "missing value" for "[error] toml::parse_key_value_pair: missing value\n --> file ...".
std::string reason(std::string_view what) {
  std::string first(what.substr(0, what.find('\n')));
  if (first.starts_with("[error] ")) first.erase(0, 8);
  const std::size_t name_end = first.find_first_of(": ", first.starts_with("toml::") ? 6 : 0);
  if (name_end != std::string::npos && first[name_end] == ':') first.erase(0, name_end + 1);
  first = trim(first);
  if (first.ends_with('.')) first.pop_back();
  return first;
}

// Shows the faulty line if it is printable ASCII. If it is not, asks whether the file is UTF-8.
std::string line_hint(std::string_view line) {
  const bool is_text = std::all_of(line.begin(), line.end(), [](unsigned char c) {
    return c == '\t' || c == '\r' || (c >= 0x20 && c < 0x7F);
  });
  if (!is_text) return "is this a TOML file in UTF-8?";
  const std::string toml = as_toml_line(line);
  return cat("the line is: ", trim(line), toml.empty() ? "" : cat("; TOML writes: ", toml));
}

// The limit for arrays, tables and dotted keys within each other, because the parser recurses for
// each level.
constexpr int deepest = 100;

// The quotes that begin a string at `at`: one quote, or three for a string of several lines. Empty
// if there is no quote.
std::string_view quotes_at(std::string_view text, std::size_t at) {
  const char quote = text[at];
  if (quote != '"' && quote != '\'') return {};
  const std::string_view three = text.substr(at, 3);
  return three.size() == 3 && three[1] == quote && three[2] == quote ? three : text.substr(at, 1);
}

// The position after the string that begins at `at`. Only strings in double quotes have escapes.
std::size_t end_of_text(std::string_view text, std::size_t at, std::string_view quotes) {
  for (at += quotes.size(); at < text.size(); ++at) {
    if (text[at] == '\\' && quotes[0] == '"')
      ++at;
    else if (text.substr(at).starts_with(quotes))
      return at + quotes.size();
  }
  return text.size();
}

// The parser doubles its factor once more after the last digit, and does not detect an overflow.
constexpr std::size_t most_binary_digits = 62;

// The number of digits of the binary number 0b… that begins at `at`, or 0 if there is none.
std::size_t binary_digits(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with("0b")) return 0;
  const std::size_t end = text.find_first_not_of("01_", at + 2);
  const std::string_view number = text.substr(at + 2, end == text.npos ? end : end - at - 2);
  return number.size() - static_cast<std::size_t>(std::count(number.begin(), number.end(), '_'));
}

// The parser searches the whole line for each value on it.
constexpr std::size_t longest_line = 65536;

void check_lines(std::string_view text, const std::filesystem::path& path) {
  std::size_t line = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end - begin > longest_line)
      throw Error(cat("cannot read ", path.string(), " as TOML: line ", line, " is longer than ",
                      longest_line, " bytes"),
                  "write a long list with an item on each line");
    begin = end + 1;
  }
}

// Throws Error for text that would crash the parser. Brackets or a dotted key may nest too deeply,
// or a binary number may be too long.
void check_limits(std::string_view text, const std::filesystem::path& path) {
  std::size_t line = 1;
  int brackets = 0, dots = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '#') at = std::min(text.find('\n', at), text.size() - 1);
    const char c = text[at];
    if (binary_digits(text, at) > most_binary_digits)
      throw Error(cat("cannot read ", path.string(), " as TOML: line ", line,
                      " has a binary number of more than ", most_binary_digits, " digits"));
    if (c == '\n') ++line;
    if (c == '[' || c == '{') ++brackets;
    if (c == ']' || c == '}') --brackets;
    if (c == '.') ++dots;
    if (c == '\n' || c == '=' || c == ',' || c == '[' || c == '{') dots = 0;
    if (brackets > deepest || dots > deepest)
      throw Error(cat("cannot read ", path.string(), " as TOML: line ", line, " nests more than ",
                      deepest, " levels"),
                  "options are at most two levels deep, as in [batch] global = 8");
    if (const std::string_view quotes = quotes_at(text, at); !quotes.empty()) {
      const std::size_t end = end_of_text(text, at, quotes);
      line += static_cast<std::size_t>(std::count(text.begin() + at, text.begin() + end, '\n'));
      at = end - 1;
    }
  }
}

// The parser reads beyond the end of a string in single quotes that is not UTF-8.
void check_utf8(std::string_view text, const std::filesystem::path& path) {
  std::size_t line = 1;
  for (std::string_view rest = text; !rest.empty();) {
    const CodePoint point = next_code_point(rest);
    if (!point.valid)
      throw Error(cat("cannot read ", path.string(), " as TOML: line ", line, " is not UTF-8"),
                  "is this a TOML file in UTF-8?");
    line += point.value == '\n';
    rest.remove_prefix(point.length);
  }
}

Toml parse(const std::string& text, const std::filesystem::path& path) {
  check_utf8(text, path);
  check_limits(text, path);
  check_lines(text, path);
  std::istringstream stream(text);
  try {
    return toml::parse<toml::discard_comments, std::map, std::vector>(stream, path.string());
  } catch (const toml::exception& error) {
    throw Error(cat("cannot read ", path.string(), " as TOML: ", reason(error.what()), " in line ",
                    error.location().line()),
                line_hint(error.location().line_str()));
  } catch (const std::exception& error) {
    throw Error(cat("cannot read ", path.string(), " as TOML: ", reason(error.what())));
  }
}

// Turns the parser's values into nodes, and counts the lines of the text only once.
class Builder {
 public:
  explicit Builder(std::string_view text) {
    for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1))
      line_ends_.push_back(at);
  }

  TomlNode node(const Toml& value) const {
    const std::string written = written_text(value);
    TomlNode node{.line = line(offset(value)), .text = written};
    switch (value.type()) {
      case toml::value_t::boolean:
        return scalar(std::move(node), TomlNode::Kind::boolean, value.as_boolean());
      case toml::value_t::integer:
        return scalar(std::move(node), TomlNode::Kind::integer, value.as_integer());
      case toml::value_t::floating:
        return scalar(std::move(node), TomlNode::Kind::real, value.as_floating());
      case toml::value_t::string:
        node.text = value.as_string().str;
        return scalar(std::move(node), TomlNode::Kind::text, node.text);
      case toml::value_t::table:
        return table(std::move(node), value);
      case toml::value_t::array:
        node.kind = TomlNode::Kind::list;
        node.items.reserve(value.as_array().size());
        for (const Toml& item : value.as_array()) node.items.push_back(this->node(item));
        return node;
      default:
        node.kind = TomlNode::Kind::time;
        return node;
    }
  }

 private:
  static TomlNode scalar(TomlNode node, TomlNode::Kind kind, nlohmann::json value) {
    node.kind = kind;
    node.value = std::move(value);
    return node;
  }

  // The parser sorts members by name. This restores their order in the file.
  TomlNode table(TomlNode node, const Toml& value) const {
    std::vector<std::pair<std::size_t, const std::pair<const std::string, Toml>*>> order;
    for (const auto& member : value.as_table()) order.emplace_back(offset(member.second), &member);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    node.kind = TomlNode::Kind::table;
    for (const auto& [at, member] : order)
      node.members.emplace_back(member->first, this->node(member->second));
    return node;
  }

  // value.location() would count the preceding lines again for each value.
  static const toml::detail::region* region(const Toml& value) {
    return dynamic_cast<const toml::detail::region*>(toml::detail::get_region(value));
  }
  static std::size_t offset(const Toml& value) {
    const toml::detail::region* const at = region(value);
    return at ? static_cast<std::size_t>(at->first() - at->begin()) : 0;
  }
  static std::string written_text(const Toml& value) {
    const bool is_short = value.is_boolean() || value.is_integer() || value.is_floating() ||
                          !(value.is_string() || value.is_table() || value.is_array());
    const toml::detail::region* const at = region(value);
    return is_short && at ? at->str() : "";
  }
  std::size_t line(std::size_t offset) const {
    const auto end = std::lower_bound(line_ends_.begin(), line_ends_.end(), offset);
    return static_cast<std::size_t>(end - line_ends_.begin()) + 1;
  }

  std::vector<std::size_t> line_ends_;
};

}  // namespace

const TomlNode* TomlNode::find(std::string_view name) const {
  for (const auto& [key, member] : members)
    if (key == name) return &member;
  return nullptr;
}

TomlNode read_toml_tree(const std::filesystem::path& path, std::uint64_t most_bytes) {
  const std::string text = read_input(path, most_bytes);
  return Builder(text).node(parse(text, path));
}

}  // namespace lockstep::detail
