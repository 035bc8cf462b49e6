#include "recipes/fewshot/prepare/named_data.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "planning/options/no_effect.h"

namespace lockstep::fewshot {
namespace {

// data.valid_share is meant for data without a validation set. If the data have one, this adds a
// note that the share has no effect.
void note_no_effect(const OptionTable& table, FoundData& found) try {
  check_no_effect(table, cat(describe(*found.valid), " says what to validate on"),
                  {"data.valid_share"});
} catch (const NoEffect& idle) {
  found.notes.emplace_back(idle.what());
}

}  // namespace

FoundData named_data(const FewshotOptions& options) {
  if (!options.data.path.empty() && !options.data.train.empty())
    throw Error("data.path and data.train both name pictures to train on",
                "leave one of them empty: data.path= or data.train=");
  FoundData found;
  if (options.data.train.empty())
    found = find_detection_data(options.data.path);
  else
    found.train = name_detection_files(options.data.train, {});
  if (!options.data.valid.empty()) {
    found.valid = name_detection_files(options.data.valid, {});
    found.notes.clear();  // they list sets that could be used for validation
  }
  if (found.valid)
    note_no_effect(options.table, found);
  else
    check_no_effect(options.table,
                    cat("a share of ", describe(found.train),
                        " is validated on, whose pictures are in data.train_pictures"),
                    {"data.valid_pictures"});
  if (!options.data.train_pictures.empty())
    take_pictures_from(options.data.train_pictures, found.train);
  if (found.valid && !options.data.valid_pictures.empty())
    take_pictures_from(options.data.valid_pictures, *found.valid);
  return found;
}

}  // namespace lockstep::fewshot
