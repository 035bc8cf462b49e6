#include "recipes/fewshot/annotations/class_split.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/hash.h"
#include "core/base/philox.h"
#include "core/base/text/text.h"

namespace lockstep::fewshot {
namespace {

// Whether each category has a box that is neither difficult nor a crowd.
std::vector<bool> shown(const DetectionData& data) {
  std::vector<bool> has(data.categories.size());
  for (const Box& box : data.boxes)
    if (box.counts()) has[static_cast<std::size_t>(box.category)] = true;
  return has;
}

std::string quoted(const std::string& name) { return "\"" + printable(name) + "\""; }

int find_class(const DetectionData& data, const std::vector<bool>& has, const std::string& name) {
  const int at = data.category_index(name);
  if (at >= 0 && has[static_cast<std::size_t>(at)]) return at;
  if (at >= 0)
    throw Error(cat("the class ", quoted(name), " has no box in ", data.name),
                "leave it out of the list");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < has.size(); ++i)
    if (has[i]) names.push_back(printable(data.categories[i].name));
  const std::string near = nearest(name, names);
  throw Error(cat("there is no class ", quoted(name), " in ", data.name),
              near.empty() ? cat("its classes are ", join(names, ", "))
                           : cat("is ", quoted(near), " meant?"));
}

std::vector<int> find_classes(const DetectionData& data, const std::vector<bool>& has,
                              const std::vector<std::string>& names) {
  std::vector<int> classes;
  for (const std::string& name : names) classes.push_back(find_class(data, has, name));
  std::sort(classes.begin(), classes.end());
  const auto twice = std::adjacent_find(classes.begin(), classes.end());
  if (twice != classes.end())
    throw Error(cat("the class ", quoted(data.categories[static_cast<std::size_t>(*twice)].name),
                    " is named twice"),
                "name each class once");
  return classes;
}

std::vector<int> others(const std::vector<bool>& has, const std::vector<int>& classes) {
  std::vector<int> rest;
  for (int i = 0; i < static_cast<int>(has.size()); ++i)
    if (has[static_cast<std::size_t>(i)] && !std::binary_search(classes.begin(), classes.end(), i))
      rest.push_back(i);
  return rest;
}

}  // namespace

std::vector<std::string> class_names(const std::string& list) {
  const bool is_file = list.starts_with("@");
  const std::string place = is_file ? list.substr(1) : "the list of classes";
  std::vector<std::string> names;
  if (trim(list).empty()) return names;
  std::set<std::string> seen;
  for (const std::string& part :
       is_file ? lines_of(read_input(list.substr(1))) : split(list, ',')) {
    const std::string name = trim(part);
    if (name.empty() && is_file) continue;
    if (name.empty())
      throw Error(cat(place, " has an empty name: \"", printable(list), "\""),
                  "write names with commas between them, or @FILE with one a line");
    if (!seen.insert(name).second)
      throw Error(cat(place, " names ", quoted(name), " twice"), "name each class once");
    names.push_back(name);
  }
  if (names.empty()) throw Error(cat(place, " names no class"), "write one name a line");
  return names;
}

ClassSplit split_by_names(const DetectionData& data, const std::vector<std::string>& base,
                          const std::vector<std::string>& novel) {
  const std::vector<bool> has = shown(data);
  ClassSplit split{.base = find_classes(data, has, base), .novel = find_classes(data, has, novel)};
  for (const int one : split.novel)
    if (std::binary_search(split.base.begin(), split.base.end(), one))
      throw Error(cat("the class ", quoted(data.categories[static_cast<std::size_t>(one)].name),
                      " is both base and novel"),
                  "novel classes are those that base training does not see");
  if (base.empty())
    split.base = others(has, split.novel);
  else if (novel.empty())
    split.novel = others(has, split.base);
  if (split.base.empty())
    throw Error(cat("all classes of ", data.name, " are novel, so that none is left to train on"),
                "name fewer novel classes");
  return split;
}

ClassSplit split_by_share(const DetectionData& data, double novel_share, std::uint64_t seed) {
  LOCKSTEP_CHECK(novel_share > 0 && novel_share < 1);
  std::vector<int> classes = others(shown(data), {});
  if (classes.size() < 2)
    throw Error(
        cat(data.name, " has one class with boxes, which cannot be split"),
        "base and novel classes need at least two; data.novel_share=0 trains on all classes, "
        "without novel ones");
  const auto key = [&](int at) {
    const std::string& name = data.categories[static_cast<std::size_t>(at)].name;
    return std::pair(Random(seed, RandomStream::split, hash64(name), 1).next_u64(), at);
  };
  std::sort(classes.begin(), classes.end(), [&](int a, int b) { return key(a) < key(b); });
  const auto count =
      std::clamp<std::int64_t>(std::llround(novel_share * static_cast<double>(classes.size())), 1,
                               static_cast<std::int64_t>(classes.size()) - 1);
  ClassSplit split{.base = {classes.begin() + count, classes.end()},
                   .novel = {classes.begin(), classes.begin() + count}};
  std::sort(split.base.begin(), split.base.end());
  std::sort(split.novel.begin(), split.novel.end());
  return split;
}

}  // namespace lockstep::fewshot
