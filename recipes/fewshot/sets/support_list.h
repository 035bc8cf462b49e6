// The labelled examples of classes (supports) that the worker gets for prediction.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "recipes/fewshot/annotations/detection_data.h"

namespace lockstep::fewshot {

struct SupportClass {
  std::string name;
  std::int64_t id = 0;  // category_id in results
  bool novel = false;
  struct Example {
    Picture picture;
    Box box;  // its members picture and category are ignored
  };
  std::vector<Example> examples;  // at least one
};
using SupportList = std::vector<SupportClass>;

nlohmann::json to_json(const SupportList& list);
SupportList support_list_from_json(const nlohmann::json& json);

}  // namespace lockstep::fewshot
