#include "training/parameters/freeze.h"

#include "core/base/error.h"
#include "core/base/text/glob.h"
#include "core/base/text/text.h"
#include "planning/options/parameter_rules.h"
#include "training/parameters/model_parameters.h"

#include <algorithm>
#include <string_view>

namespace lockstep {
namespace {

void require_matches(const std::vector<Parameter>& registered,
                     const std::vector<std::string>& patterns) {
  std::vector<std::string> names;
  for (const Parameter& parameter : registered) names.push_back(parameter.name);
  for (const std::string& entry : patterns) {
    const std::string_view pattern = std::string_view(entry).substr(entry.starts_with("!") ? 1 : 0);
    const bool any = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return glob_matches(pattern, name);
    });
    if (!any)
      throw Error(cat("train.freeze: no parameter of the model matches \"", entry, "\""),
                  hint_for_pattern(pattern, names));
  }
}

}  // namespace

void freeze(const std::vector<Parameter>& registered, const std::vector<std::string>& patterns) {
  if (patterns.empty()) return;
  require_matches(registered, patterns);
  const ModelParameters sorted = sort_parameters(registered);
  std::size_t left = sorted.trained.size();
  for (const UniqueParameter& one : sorted.trained) {
    if (!freezes(patterns, all_names(one.parameter.name, sorted.aliases))) continue;
    for (at::Tensor handle : one.handles) handle.set_requires_grad(false);
    --left;
  }
  if (left == 0)
    throw Error(cat("train.freeze = ", join(patterns, ","),
                    " freezes every parameter: nothing "
                    "would be trained"),
                "keep some trained by a pattern with ! behind: train.freeze='*,!head.*'");
}

}  // namespace lockstep
