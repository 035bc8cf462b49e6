// Base class for the options of recipes whose code for preparing data is linked only into the tool.
// The tool prepares data, lists items and computes scores. The worker receives the prepared data.
#pragma once

#include "planning/recipe_info.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace lockstep {

// The functions that only the tool has, and words for their messages. If a function is null, the
// function of RecipeOptions is used instead.
template <class Options>
struct Preparer {
  const char* data = "";    // "the sentences", as in "cannot prepare the sentences"
  const char* record = "";  // name of the file that records what was prepared
  Prepared (*prepare)(Options& options, const PrepareContext& context) = nullptr;
  std::vector<PredictItem> (*items)(const Options& options, const ItemQuery& query) = nullptr;
  std::vector<Score> (*score)(Options& options, const ScoreContext& context) = nullptr;
  void (*forget_places)(nlohmann::json& extra, std::map<std::string, std::string>& kept) = nullptr;
};

// Calls `prepare`. An exception of the file system becomes an Error that names `data`. An exception
// of JSON becomes an Error that names the damaged file `record`. If that name is empty, the
// exception passes through.
Prepared prepared_by(const std::function<Prepared()>& prepare, const char* data,
                     const char* record);

// Base class of `Options`, the recipe's struct of options.
template <class Options>
class PreparedOptions : public RecipeOptions {
 public:
  // Set before main if the recipe's library for the tool is linked, and otherwise empty.
  static inline constinit Preparer<Options> preparer = {};

  Prepared prepare(const PrepareContext& context) override {
    if (preparer.prepare == nullptr) return RecipeOptions::prepare(context);
    return prepared_by([&] { return preparer.prepare(static_cast<Options&>(*this), context); },
                       preparer.data, preparer.record);
  }
  void forget_places(nlohmann::json& extra,
                     std::map<std::string, std::string>& kept) const override {
    if (preparer.forget_places == nullptr) return RecipeOptions::forget_places(extra, kept);
    preparer.forget_places(extra, kept);
  }
  std::vector<PredictItem> items(const ItemQuery& query) const override {
    if (preparer.items == nullptr) return RecipeOptions::items(query);
    return preparer.items(static_cast<const Options&>(*this), query);
  }
  std::vector<Score> score(const ScoreContext& context) override {
    if (preparer.score == nullptr) return RecipeOptions::score(context);
    return preparer.score(static_cast<Options&>(*this), context);
  }
};

}  // namespace lockstep
