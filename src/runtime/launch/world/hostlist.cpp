#include "runtime/launch/world/hostlist.h"

#include <cstdint>
#include <optional>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"

namespace lockstep {
namespace {

constexpr std::size_t most_hosts = 65'536;  // Slurm's own limit for a range
constexpr std::size_t longest_name = 255;   // length of a host name

[[noreturn]] void malformed(std::string_view list, std::string_view why) {
  throw Error(cat("malformed list \"", list, "\": ", why),
              "Slurm writes lists such as node[003-007,9],x1");
}

// Expands "003-007,9" to 003, 004, …, 007, 9, with the width of a range's first number.
std::vector<std::string> expand_ranges(std::string_view ranges, std::string_view list) {
  std::vector<std::string> numbers;
  for (const std::string& range : split(ranges, ',')) {
    const std::size_t dash = range.find('-');
    const std::string first_text = range.substr(0, dash);
    const auto first = whole_number(first_text);
    const auto last =
        dash == range.npos ? first : whole_number(std::string_view(range).substr(dash + 1));
    if (!first || !last || *last < *first) malformed(list, cat("\"", range, "\" is no range"));
    if (first_text.size() > longest_name) malformed(list, "a name is too long");
    const auto more = static_cast<std::uint64_t>(*last - *first);
    if (more >= most_hosts - numbers.size()) malformed(list, "it is too long");
    for (std::uint64_t i = 0; i <= more; ++i) {
      std::string text = cat(*first + static_cast<std::int64_t>(i));
      if (text.size() < first_text.size()) text.insert(0, first_text.size() - text.size(), '0');
      numbers.push_back(std::move(text));
    }
  }
  return numbers;
}

// Expands one element of the list, such as "rack[1-2]n[1-4]-ib".
std::vector<std::string> expand_element(std::string_view element, std::string_view list) {
  std::vector<std::string> hosts = {""};
  while (!element.empty()) {
    const std::size_t open = element.find('[');
    const std::string_view literal = element.substr(0, open);
    if (literal.find(']') != literal.npos) malformed(list, "] without [");
    if (hosts.back().size() + literal.size() > longest_name) malformed(list, "a name is too long");
    for (std::string& host : hosts) host += literal;
    if (open == element.npos) break;
    const std::size_t close = element.find(']', open);
    if (close == element.npos) malformed(list, "[ without ]");
    const auto numbers = expand_ranges(element.substr(open + 1, close - open - 1), list);
    if (hosts.size() * numbers.size() > most_hosts) malformed(list, "it is too long");
    std::vector<std::string> longer;
    for (const std::string& host : hosts) {
      for (const std::string& number : numbers) longer.push_back(host + number);
    }
    hosts = std::move(longer);
    element.remove_prefix(close + 1);
  }
  return hosts;
}

// Splits the list at commas outside brackets.
std::vector<std::string_view> elements_of(std::string_view list) {
  std::vector<std::string_view> elements;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '[') ++depth;
    if (i < list.size() && list[i] == ']') --depth;
    if (i < list.size() && (list[i] != ',' || depth != 0)) continue;
    elements.push_back(list.substr(begin, i - begin));
    begin = i + 1;
  }
  return elements;
}

}  // namespace

std::vector<std::string> expand_hostlist(std::string_view list) {
  std::vector<std::string> hosts;
  for (const std::string_view element : elements_of(list)) {
    if (element.empty()) malformed(list, "a name is empty");
    for (std::string& host : expand_element(element, list)) hosts.push_back(std::move(host));
    if (hosts.size() > most_hosts) malformed(list, "it is too long");
  }
  return hosts;
}

std::vector<int> expand_tasks_per_node(std::string_view list) {
  std::vector<int> tasks;
  for (const std::string& part : split(list, ',')) {
    const std::size_t open = part.find("(x");
    const auto count = whole_number(part.substr(0, open));
    std::optional<std::int64_t> times = 1;
    if (open != part.npos) {
      if (part.back() != ')') malformed(list, cat("\"", part, "\" lacks )"));
      times = whole_number(part.substr(open + 2, part.size() - open - 3));
    }
    if (!count || !times || *count > 1'000'000 || *times > static_cast<std::int64_t>(most_hosts)) {
      malformed(list, cat("\"", part, "\" is no number of tasks"));
    }
    if (static_cast<std::size_t>(*times) > most_hosts - tasks.size())
      malformed(list, "it is too long");
    tasks.insert(tasks.end(), static_cast<std::size_t>(*times), static_cast<int>(*count));
  }
  return tasks;
}

}  // namespace lockstep
