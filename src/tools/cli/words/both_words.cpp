#include "tools/cli/words/both_words.h"

#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "core/config/parse.h"

#include <algorithm>
#include <filesystem>
#include <vector>

namespace lockstep::cli {
namespace {

bool counts_from_first(const std::string& list) {
  const std::vector<std::string> indexes = split(list, ',');
  for (std::size_t i = 0; i < indexes.size(); ++i)
    if (indexes[i] != cat(i)) return false;
  return true;
}

// Combines two values of --devices. A list or number is preferred over "all". "cpu" with a list
// becomes that number of CPU ranks. A list "0,1,…" may come from a number of devices, so another
// list is preferred over it.
std::string devices_of_both(const std::string& one, const std::string& other) {
  if (one == "all") return other;
  if (other == "all") return one;
  if (one == "cpu" || other == "cpu") {
    const std::size_t count = indexes_in(one == "cpu" ? other : one);
    return count > 1 ? cat("cpu:", count) : "cpu";
  }
  return counts_from_first(one) ? other : one;
}

// Whether the values contradict. One may name several GPUs and the other one device. Or both are
// lists with different lengths.
bool devices_contradict(const OurWord& one, const OurWord& other) {
  const std::size_t in_one = indexes_in(one.value), in_other = indexes_in(other.value);
  const auto is_single = [](const OurWord& word, std::size_t count) {
    return count == 1 || word.value == "cpu";
  };
  return (one.means_several && is_single(other, in_other)) ||
         (other.means_several && is_single(one, in_one)) ||
         (in_one > 0 && in_other > 0 && in_one != in_other);
}

// Whether the values are equal as text or as numbers, such as "1e-3" and "0.001".
bool are_equal(const std::string& one, const std::string& other) {
  const auto number = detail::parse_real(one);
  return one == other || (number && number == detail::parse_real(other));
}

}  // namespace

bool is_placeholder(const std::string& value) {
  return value == unknown_value || value == "PATH" || value == "DIR" || value == unknown_factor ||
         value.find("xDEVICES") != std::string::npos;
}

std::size_t indexes_in(const std::string& list) {
  const std::vector<std::string> indexes = split(list, ',');
  const bool are_all = std::all_of(indexes.begin(), indexes.end(), [](const std::string& index) {
    return whole_number(index).has_value();
  });
  return are_all ? indexes.size() : 0;
}

bool is_below(const std::string& folder, const std::string& file) {
  const std::filesystem::path from = std::filesystem::path(folder).lexically_normal();
  const std::filesystem::path rest =
      std::filesystem::path(file).lexically_normal().lexically_relative(from);
  return !rest.empty() && rest != "." && *rest.begin() != "..";
}

BothWords word_of_both(const OurWord& one, const OurWord& other) {
  if (one.name == "--devices")
    return {{one.name, devices_of_both(one.value, other.value)}, devices_contradict(one, other)};
  if (one.is_off != other.is_off) return {one.is_off ? other : one};
  if (other.value == "auto" || is_placeholder(other.value)) return {one};
  if (one.value == "auto" || is_placeholder(one.value)) return {other};
  if (one.name.starts_with("data.") && is_below(other.value, one.value)) return {one};
  if (one.name.starts_with("data.") && is_below(one.value, other.value)) return {other};
  if (one.is_file != other.is_file)  // a file is preferred over a folder that follows
    return {one.is_file ? one : other, !are_equal(one.value, other.value)};
  return {other, !are_equal(one.value, other.value)};
}

}  // namespace lockstep::cli
