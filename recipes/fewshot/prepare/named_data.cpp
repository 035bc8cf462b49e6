#include "recipes/fewshot/prepare/named_data.h"

#include "core/base/error.h"

namespace lockstep::fewshot {

FoundData named_data(const FewshotOptions& options) {
  if (!options.data.path.empty() && !options.data.train.empty())
    throw Error("data.path and data.train both name pictures to train on",
                "leave one of them empty: data.path= or data.train=");
  FoundData found;
  if (options.data.train.empty()) {
    found = find_detection_data(options.data.path);
  } else {
    found.train = name_detection_files(options.data.train, options.data.train_pictures);
  }
  if (!options.data.valid.empty()) {
    found.valid = name_detection_files(options.data.valid, options.data.valid_pictures);
    found.notes.clear();  // they are of what could be validated on instead
  }
  return found;
}

}  // namespace lockstep::fewshot
