// Finds by name which tensor of a source belongs to which tensor of a model.
#include "core/base/error.h"
#include "core/base/text/glob.h"
#include "core/base/text/text.h"
#include "planning/options/parameter_rules.h"
#include "planning/words.h"
#include "training/checkpoint/first_weights.h"
#include "training/checkpoint/tensor_file.h"

#include <algorithm>
#include <optional>

namespace lockstep {
namespace {

using Names = std::vector<std::string>;

constexpr std::size_t most_named = 8;

// Returns text such as "a, b, c and 12 more".
std::string some_of(const Names& names) {
  Names some;
  for (std::size_t i = 0; i < std::min(names.size(), most_named); ++i)
    some.push_back(printable(names[i]));
  return cat(join(some, ", "),
             names.size() > most_named ? cat(" and ", names.size() - most_named, " more") : "");
}

std::string shape_text(at::IntArrayRef shape) {
  Names sizes;
  for (const std::int64_t size : shape) sizes.push_back(cat(size));
  return cat("[", join(sizes, ", "), "]");
}

bool counts_batches(const std::string& name) {
  return name == "num_batches_tracked" || name.ends_with(".num_batches_tracked");
}

// Returns the number of characters that DataParallel, DistributedDataParallel and torch.compile put
// before every name. Returns 0 if the model has one of the names as it stands. passed_over:
// patterns of names that are ignored here.
std::size_t wrapped_letters(const std::map<std::string, std::size_t>& model,
                            const std::vector<SourceTensor>& source, const Names& passed_over) {
  std::vector<std::string_view> names;
  for (const SourceTensor& tensor : source)
    if (!any_matches(passed_over, tensor.stored.name)) names.emplace_back(tensor.stored.name);
  std::size_t letters = 0;
  while (!names.empty()) {
    const bool fits = std::any_of(names.begin(), names.end(), [&](std::string_view name) {
      return model.contains(std::string(name));
    });
    if (fits) return letters;
    std::size_t more = 0;
    for (const std::string_view prefix : {"module.", "_orig_mod."})
      if (std::all_of(names.begin(), names.end(),
                      [&](std::string_view name) { return name.starts_with(prefix); }))
        more = prefix.size();
    if (more == 0) return letters;
    for (std::string_view& name : names) name.remove_prefix(more);
    letters += more;
  }
  return letters;
}

// Finds the model's tensor for a name in the source.
class Renaming {
 public:
  Renaming(const std::vector<ModelTensor>& model, const std::vector<SourceTensor>& source,
           const Names& map, const Names& passed_over, const std::vector<NamePair>& weight_names)
      : map_(name_map(map)), used_(map_.size()), weight_names_(weight_names) {
    for (std::size_t i = 0; i < model.size(); ++i)
      for (const std::string& name : model[i].names) places_[name] = i;
    wrapped_ = wrapped_letters(places_, source, passed_over);
  }

  // Removes the characters that a wrapper put before every name.
  std::string unwrapped(const std::string& name) const {
    return name.size() > wrapped_ ? name.substr(wrapped_) : name;
  }

  // Returns nothing if the model does not have the tensor.
  std::optional<std::size_t> place_of(const std::string& name) {
    const auto [renamed, pair] = as_renamed(name);
    if (pair < used_.size()) used_[pair] = true;
    if (const auto own = places_.find(renamed); own != places_.end()) {
      of_field_ |= pair < used_.size() && is_of_field(renamed);
      return own->second;
    }
    for (const std::string& one : {renamed, name})
      if (const auto own = place_in_the_field(one)) {
        of_field_ = true;
        return own;
      }
    return std::nullopt;
  }

  // Both apply the rules of weight_names, and return false if the source does not use such names.
  // The first is for tensors of the source that the model has no place for. The second is for
  // tensors of the model that the source lacks.
  bool may_be_passed_over(const std::string& name) const {
    const std::string renamed = as_renamed(name).first;
    return of_field_ &&
           std::any_of(weight_names_.begin(), weight_names_.end(), [&](const auto& pair) {
             return pair.second.empty() &&
                    (glob_matches(pair.first, renamed) || glob_matches(pair.first, name) ||
                     is_in_the_field(pair.first, renamed));
           });
  }
  bool may_be_lacking(const std::string& name) const {
    return of_field_ &&
           std::any_of(weight_names_.begin(), weight_names_.end(), [&](const auto& pair) {
             return pair.first.empty() && glob_matches(pair.second, name);
           });
  }

  void require_all_used(const std::vector<SourceTensor>& source, const std::string& what) const {
    Names names;
    for (const SourceTensor& tensor : source) names.push_back(tensor.stored.name);
    for (std::size_t i = 0; i < map_.size(); ++i)
      if (!used_[i])
        throw Error(cat("init.map: no tensor of ", what, " is renamed by \"", map_[i].first, "=",
                        map_[i].second, "\""),
                    hint_for_pattern(map_[i].first, names));
  }

 private:
  // Returns the name after the first pair of init.map that fits, and the index of that pair. A
  // pattern may match the name in the file, or the name without the wrapper's characters.
  std::pair<std::string, std::size_t> as_renamed(const std::string& name) const {
    for (std::size_t i = 0; i < map_.size(); ++i) {
      const auto as = glob_renamed(map_[i].first, map_[i].second, name);
      const auto as_unwrapped = glob_renamed(map_[i].first, map_[i].second, unwrapped(name));
      if (as_unwrapped && (!as || (!leads_anywhere(*as) && leads_anywhere(*as_unwrapped))))
        return {*as_unwrapped, i};
      if (as) return {*as, i};
    }
    return {places_.contains(name) ? name : unwrapped(name), map_.size()};
  }

  // Looks the name up by the pairs of weight_names.
  std::optional<std::size_t> place_in_the_field(const std::string& name) const {
    for (const auto& [from, to] : weight_names_)
      if (const auto as = glob_renamed(from, to, name))
        if (const auto own = places_.find(*as); own != places_.end()) return own->second;
    return std::nullopt;
  }

  bool leads_anywhere(const std::string& renamed) const {
    return places_.contains(renamed) || place_in_the_field(renamed).has_value();
  }

  // Whether init.map led to a name to which weight_names leads too.
  bool is_of_field(const std::string& renamed) const {
    return std::any_of(weight_names_.begin(), weight_names_.end(), [&](const auto& pair) {
      return !pair.first.empty() && !pair.second.empty() && glob_matches(pair.second, renamed);
    });
  }

  // Whether `pattern` matches the field's own name of a tensor that init.map has renamed. For
  // "trunk.layer4.0.conv1.weight", that name is "layer4.0.conv1.weight".
  bool is_in_the_field(const std::string& pattern, const std::string& renamed) const {
    return std::any_of(weight_names_.begin(), weight_names_.end(), [&](const auto& pair) {
      if (pair.first.empty() || pair.second.empty()) return false;
      const auto as = glob_renamed(pair.second, pair.first, renamed);
      return as && glob_matches(pattern, *as);
    });
  }

  std::vector<NamePair> map_;
  std::vector<bool> used_;
  const std::vector<NamePair>& weight_names_;
  std::size_t wrapped_ = 0;
  std::map<std::string, std::size_t> places_;
  bool of_field_ = false;  // weight_names led from a name of the source to one of the model
};

struct Faults {
  Names missing, unexpected, other_shape, other_kind, unreadable;
  std::string remedy;  // the hint of the first tensor that cannot be read
  std::size_t tensors = 0;
  Names shaped;  // names of the tensors in other_shape
  Names filled;  // names in the file of the tensors that fit
  // For a hint: a missing name, and an unexpected name that could stand for it.
  std::string lacking, offered;
  std::size_t names() const { return missing.size() + unexpected.size(); }
  bool any() const {
    return !(missing.empty() && unexpected.empty() && other_shape.empty() && other_kind.empty() &&
             unreadable.empty());
  }
};

// Returns the number of characters at which both names end alike, from the beginning of a dotted
// part. Returns 0 if only the last part is alike. Unrelated tensors also end in "weight" or "bias".
std::size_t common_end(const std::string& a, const std::string& b) {
  std::size_t same = 0, whole = 0;
  while (same < std::min(a.size(), b.size()) && a[a.size() - same - 1] == b[b.size() - same - 1]) {
    ++same;
    const bool part_begins = (same == a.size() || a[a.size() - same - 1] == '.') &&
                             (same == b.size() || b[b.size() - same - 1] == '.');
    if (part_begins) whole = same;
  }
  const bool is_whole_name = whole == a.size() || whole == b.size();
  const bool has_parts = a.find('.', a.size() - whole) != a.npos;
  return is_whole_name || has_parts ? whole : 0;
}

// The pair of init.map that would turn the offered name into the missing one, or "".
std::string guessed_pair(const Faults& faults) {
  if (faults.lacking.empty() || faults.offered.empty()) return "";
  const std::size_t same = common_end(faults.lacking, faults.offered);
  const auto front = [&](const std::string& name) { return name.substr(0, name.size() - same); };
  return cat(front(faults.offered), "*=", front(faults.lacking), "*");
}

// The shortest pattern of whole parts that matches the name and none of `others`.
std::string pattern_of(const std::string& name, const Names& others) {
  for (std::size_t dot = name.find('.'); dot != name.npos; dot = name.find('.', dot + 1)) {
    const std::string begin = name.substr(0, dot + 1);
    if (std::none_of(others.begin(), others.end(),
                     [&](const std::string& other) { return other.starts_with(begin); }))
      return begin + "*";
  }
  return name;
}

// Patterns such as "head.*" or "rare" that match all of `names`, without duplicates.
Names patterns_of(const Names& names, const Names& others = {}) {
  Names patterns;
  for (const std::string& name : names)
    if (std::string pattern = pattern_of(name, others);
        std::find(patterns.begin(), patterns.end(), pattern) == patterns.end())
      patterns.push_back(std::move(pattern));
  return patterns;
}

// The options that make the weights fit. map: pairs for init.map. after: the faults that remain
// with that map.
std::string hint_with_map(const Faults& before, const Names& map, const Faults& after) {
  std::string hint =
      cat("if ", before.offered, " is ", before.lacking, ": init.map=\"", join(map, ","), "\"");
  const Names unexpected = patterns_of(after.unexpected, after.filled);
  const Names missing = patterns_of(after.missing);
  if (std::max(unexpected.size(), missing.size()) > most_named)
    return hint + ", and init.unexpected and init.missing for the rest";
  if (!unexpected.empty()) hint += cat(" init.unexpected=\"", join(unexpected, ","), "\"");
  if (!missing.empty())
    hint += cat(" init.missing=\"", join(missing, ","), "\" (which start as they were built)");
  return hint;
}

// The hint if tensors have other shapes. A head may be left as it was built, but not a whole model
// of another size.
std::string hint_of_shapes(const Faults& faults) {
  const std::string sizes =
      "the file is of a model of other sizes: set the options of model.* to those sizes";
  if (faults.filled.empty()) return sizes;
  Names left = faults.shaped;
  left.insert(left.end(), faults.missing.begin(), faults.missing.end());
  const Names missing = patterns_of(left);
  const Names unexpected = patterns_of(faults.unexpected, faults.filled);
  if (std::max(missing.size(), unexpected.size()) > most_named)
    return sizes + ", or leave tensors out by init.missing and init.unexpected";
  std::string leave = cat("init.missing=\"", join(missing, ","), "\"");
  if (!unexpected.empty()) leave += cat(" init.unexpected=\"", join(unexpected, ","), "\"");
  leave += cat(" leaves ", count_of(std::ssize(left), "tensor"), " as built");
  const bool most = 2 * faults.shaped.size() > faults.tensors - faults.missing.size();
  return most ? cat(sizes, "; ", leave) : leave;
}

// guess: a hint about names that init.map could change, or "".
[[noreturn]] void refuse(const Faults& faults, const std::string& what, const std::string& guess) {
  Names words;
  if (!faults.missing.empty())
    words.push_back(cat(faults.missing.size(), " of the model's ", faults.tensors,
                        " tensors are missing: ", some_of(faults.missing)));
  if (!faults.unexpected.empty())
    words.push_back(cat(faults.unexpected.size(), " are unexpected: ", some_of(faults.unexpected)));
  if (!faults.other_shape.empty())
    words.push_back(
        cat(faults.other_shape.size(), " have another shape: ", some_of(faults.other_shape)));
  if (!faults.other_kind.empty())
    words.push_back(cat(faults.other_kind.size(),
                        " hold numbers of another kind: ", some_of(faults.other_kind)));
  if (!faults.unreadable.empty())
    words.push_back(cat(faults.unreadable.size(), " cannot be read: ", some_of(faults.unreadable)));
  std::string hint = faults.remedy.empty() ? guess : faults.remedy;
  if (hint.empty() && !faults.other_shape.empty()) hint = hint_of_shapes(faults);
  if (hint.empty())
    hint = "init.map renames; init.missing and init.unexpected allow what patterns name";
  throw Error(cat("the weights of ", what, " do not fit the model: ", join(words, "; ")), hint);
}

// Finds the missing name and the unexpected name of the same shape that share the longest end.
void find_likely_pair(const std::vector<ModelTensor>& model,
                      const std::vector<std::size_t>& missing,
                      const std::vector<SourceTensor>& source,
                      const std::vector<std::size_t>& unexpected, const Renaming& renaming,
                      Faults& faults) {
  std::size_t best = 0;
  constexpr std::size_t most_compared = 64;
  for (std::size_t m = 0; m < std::min(missing.size(), most_compared); ++m)
    for (const std::size_t u : unexpected) {
      const std::string& name = model[missing[m]].names.front();
      const std::string there = renaming.unwrapped(source[u].stored.name);
      const std::size_t same = common_end(name, there);
      if (same <= best || model[missing[m]].tensor.sizes() != source[u].stored.shape) continue;
      best = same;
      faults.lacking = name;
      faults.offered = there;
    }
}

class Matching {
 public:
  Matching(const std::vector<ModelTensor>& model, const std::vector<SourceTensor>& source,
           const TrainOptions& options)
      : model_(model), source_(source), options_(options), sources_of_(model.size()) {
    faults_.tensors = model.size();
  }

  void match(Renaming& renaming) {
    std::vector<std::optional<std::size_t>> places;
    for (const SourceTensor& tensor : source_)
      places.push_back(renaming.place_of(tensor.stored.name));
    for (std::size_t s = 0; s < source_.size(); ++s) place(s, places[s], renaming);
    for (std::size_t m = 0; m < model_.size(); ++m) fill(m, renaming);
    for (const WeightMatch::Pair& pair : match_.pairs)
      faults_.filled.push_back(renaming.unwrapped(source_[pair.source].stored.name));
    find_likely_pair(model_, missing_, source_, unexpected_, renaming, faults_);
  }
  const Faults& faults() const { return faults_; }
  WeightMatch take_match() { return std::move(match_); }

 private:
  void place(std::size_t s, std::optional<std::size_t> own, const Renaming& renaming) {
    const SourceTensor& tensor = source_[s];
    const std::string& name = tensor.stored.name;
    if (any_matches(options_.init.unexpected, name) ||
        any_matches(options_.init.unexpected, renaming.unwrapped(name))) {
      match_.unexpected.push_back(name);
    } else if (own) {
      sources_of_[*own].push_back(s);
    } else if (renaming.may_be_passed_over(name)) {
      match_.unexpected.push_back(name);
    } else if (!tensor.is_alias && !counts_batches(name)) {
      faults_.unexpected.push_back(renaming.unwrapped(name));
      unexpected_.push_back(s);
    }
  }

  bool may_miss(const ModelTensor& tensor) const {
    return std::any_of(tensor.names.begin(), tensor.names.end(), [&](const std::string& name) {
      return any_matches(options_.init.missing, name);
    });
  }

  void fill(std::size_t m, const Renaming& renaming) {
    const ModelTensor& tensor = model_[m];
    const std::string& name = tensor.names.front();
    if (sources_of_[m].empty()) {
      if (may_miss(tensor) || renaming.may_be_lacking(name)) {
        match_.missing.push_back(name);
      } else if (!counts_batches(name)) {
        faults_.missing.push_back(name);
        missing_.push_back(m);
      }
      return;
    }
    for (const std::size_t s : sources_of_[m])
      if (!take(m, s)) return;
  }

  // Returns false if the model's tensor stays as it was built, or cannot be filled.
  bool take(std::size_t m, std::size_t s) {
    const ModelTensor& tensor = model_[m];
    const StoredTensor& stored = source_[s].stored;
    const std::string& name = tensor.names.front();
    const at::Tensor& own = tensor.tensor;
    if (stored.fault != nullptr) {
      faults_.unreadable.push_back(cat(name, " ", stored.fault->what));
      if (faults_.remedy.empty()) faults_.remedy = stored.fault->hint;
      return false;
    }
    std::int64_t elements = 1;
    for (const std::int64_t size : stored.shape) elements *= size;
    const bool both_single = own.numel() == 1 && elements == 1 && stored.shape.size() < 2;
    if (own.sizes() != stored.shape && !both_single) {
      if (may_miss(tensor)) {
        match_.other_shape.push_back(name);
      } else {
        faults_.shaped.push_back(name);
        faults_.other_shape.push_back(
            cat(name, " ", shape_text(stored.shape), ", in the model ", shape_text(own.sizes())));
      }
      return false;
    }
    const std::optional<at::ScalarType> type = stored_dtype(stored.dtype);
    const std::string now = dtype_name(own.scalar_type());
    if (!type || (at::isFloatingType(*type) && !own.is_floating_point() && !counts_batches(name))) {
      faults_.other_kind.push_back(cat(name, " ", stored.dtype, ", in the model ", now));
      return false;
    }
    if (stored.dtype != now) ++match_.converted[cat(stored.dtype, " to ", now)];
    match_.pairs.push_back({.model = m, .source = s});
    return true;
  }

  const std::vector<ModelTensor>& model_;
  const std::vector<SourceTensor>& source_;
  const TrainOptions& options_;
  std::vector<std::vector<std::size_t>> sources_of_;
  std::vector<std::size_t> missing_, unexpected_;
  Faults faults_;
  WeightMatch match_;
};

struct Inputs {
  const std::vector<ModelTensor>& model;
  const std::vector<SourceTensor>& source;
  const TrainOptions& options;
  const std::vector<NamePair>& weight_names;
};

// Tries pairs of init.map that the user may have meant. Returns them with the other options that
// they need, or "" if no pair helps.
std::string guess_names(const Inputs& in, const Faults& faults) {
  constexpr std::size_t most_pairs = 4;
  Faults now = faults;
  Names map = in.options.init.map;
  for (std::size_t pairs = 0; pairs < most_pairs; ++pairs) {
    const std::string pair = guessed_pair(now);
    if (pair.empty()) break;
    Names longer = map;
    // before the user's own pairs, which could match these names first
    longer.insert(longer.begin(), pair);
    Renaming renaming(in.model, in.source, longer, in.options.init.unexpected, in.weight_names);
    Matching matching(in.model, in.source, in.options);
    matching.match(renaming);
    if (matching.faults().names() >= now.names()) break;
    map = std::move(longer);
    now = matching.faults();
  }
  return map == in.options.init.map ? "" : hint_with_map(faults, map, now);
}

}  // namespace

WeightMatch match_weights(const std::vector<ModelTensor>& model,
                          const std::vector<SourceTensor>& source, const TrainOptions& options,
                          const std::vector<std::pair<std::string, std::string>>& weight_names,
                          const std::string& what) {
  Renaming renaming(model, source, options.init.map, options.init.unexpected, weight_names);
  Matching matching(model, source, options);
  matching.match(renaming);
  renaming.require_all_used(source, what);
  if (matching.faults().any()) {
    const Inputs inputs{model, source, options, weight_names};
    refuse(matching.faults(), what, guess_names(inputs, matching.faults()));
  }
  WeightMatch match = matching.take_match();
  if (match.pairs.empty())
    throw Error(
        cat("no tensor of ", what, " is one of the model"),
        match.other_shape.empty()
            ? "init.map renames the tensors of the file to those of the model"
            : cat(count_of(std::ssize(match.other_shape), "tensor"),
                  " of the model's names, but of another shape: set the options of model.* to the "
                  "sizes of the file"));
  return match;
}

}  // namespace lockstep
