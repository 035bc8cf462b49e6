#include "recipes/fewshot/options/trunk_of_file.h"

#include <algorithm>
#include <map>
#include <string>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::fewshot {
namespace {

using Shapes = std::map<std::string, std::vector<std::int64_t>>;

// The prefix of the first block's name, such as "module.backbone.".
std::optional<std::string> front_of_trunk(const Shapes& shapes) {
  constexpr std::string_view first_block = "layer1.0.conv1.weight";
  for (const auto& [name, shape] : shapes)
    if (name.ends_with(first_block)) return name.substr(0, name.size() - first_block.size());
  return std::nullopt;
}

bool is_asked_for(const TrainOptions& train) {
  const std::vector<OptionInfo> options = train.table.options();
  return std::any_of(options.begin(), options.end(), [](const OptionInfo& option) {
    return option.key == "init.from" && (option.source.kind == ValueSource::Kind::argument ||
                                         option.source.kind == ValueSource::Kind::file);
  });
}

std::vector<SourceTensor> tensors_of(const TrainOptions& train) try {
  const auto& init = train.init;
  return read_source(
      find_weight_source(init.from, init.checkpoint == InitCheckpoint::best, init.average));
} catch (const Error&) {
  return {};
}

}  // namespace

std::optional<TrunkOfFile> trunk_of(const std::vector<SourceTensor>& tensors) {
  Shapes shapes;
  for (const SourceTensor& tensor : tensors) shapes[tensor.stored.name] = tensor.stored.shape;
  const auto front = front_of_trunk(shapes);
  if (!front) return std::nullopt;
  const auto stem = shapes.find(*front + "conv1.weight");
  if (stem == shapes.end() || stem->second.size() != 4) return std::nullopt;
  const bool bottleneck = shapes.contains(*front + "layer1.0.conv3.weight");
  std::int64_t blocks = 0;  // number of blocks in the third stage, which identifies the depth
  while (shapes.contains(cat(*front, "layer3.", blocks, ".conv1.weight"))) ++blocks;
  const std::map<std::pair<bool, std::int64_t>, std::int64_t> depths{
      {{false, 2}, 18}, {{false, 6}, 34}, {{true, 6}, 50}, {{true, 23}, 101}};
  const auto depth = depths.find({bottleneck, blocks});
  if (depth == depths.end()) return std::nullopt;
  return TrunkOfFile{.depth = depth->second, .width = stem->second[0]};
}

void check_trunk_of_file(const TrainOptions& train, const TrunkOfFile& model) {
  if (train.init.from.empty() || !is_asked_for(train)) return;
  // Not checked, because the user chose which tensors to load.
  if (!train.init.map.empty() || !train.init.unexpected.empty()) return;
  const auto file = trunk_of(tensors_of(train));
  if (!file) return;
  std::vector<std::string> set;
  if (file->depth != model.depth) set.push_back(cat("model.depth=", file->depth));
  if (file->width != model.width) set.push_back(cat("model.width=", file->width));
  if (set.empty()) return;
  const auto text = [](const TrunkOfFile& trunk) {
    return cat("a ResNet-", trunk.depth, " of width ", trunk.width);
  };
  throw Error(cat("init.from: ", train.init.from, " holds ", text(*file), ", but the model has ",
                  text(model)),
              cat("set ", join(set, " ")));
}

}  // namespace lockstep::fewshot
