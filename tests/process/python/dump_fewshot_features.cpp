// Writes the feature maps of a fewshot trunk that starts from a file of weights:
// dump-fewshot-features WEIGHTS DEPTH PICTURES OUT. PICTURES: f32 [2, 3, 64, 96], raw. OUT: f32
// [2, C, 4, 6], raw. Says how many tensors were filled, and what was passed over.
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "recipes/fewshot/model/recipe.h"
#include "training/checkpoint/first_weights.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>

#include <fstream>
#include <iostream>
#include <string>

namespace lockstep::fewshot {
namespace {

void run(const std::string& weights, const std::string& depth, const std::string& pictures,
         const std::string& out) {
  FewshotOptions options;
  TrainOptions train;
  options.defaults(train, /*has_gpu=*/false);
  options.table.set("model.depth", depth);
  FewshotRecipe recipe(options, {});
  const auto model = recipe.build(1);
  std::cout << load_first_weights(*model, recipe, train, find_weight_source(weights, false, false))
            << "\n";
  std::string bytes = read_file(pictures);
  const at::Tensor x = at::from_blob(bytes.data(), {2, 3, 64, 96}, at::kFloat);
  const at::NoGradGuard no_gradients;
  StepContext context;
  context.training = false;
  auto& net = dynamic_cast<NnModel<DetectorImpl>&>(*model).module();
  const at::Tensor maps =
      net.named_children()["trunk"]->as<TrunkImpl>()->forward(x, context).contiguous();
  std::ofstream(out, std::ios::binary)
      .write(static_cast<const char*>(maps.const_data_ptr()),
             static_cast<std::streamsize>(maps.nbytes()));
}

}  // namespace
}  // namespace lockstep::fewshot

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  try {
    lockstep::fewshot::run(argv[1], argv[2], argv[3], argv[4]);
  } catch (const lockstep::Error& error) {
    std::cerr << "error: " << error.what() << "\n\nhint: " << error.hint() << "\n";
    return 1;
  }
  return 0;
}
