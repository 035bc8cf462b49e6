#include "plan/memory_help.h"

#include "base/text.h"
#include "plan/memory.h"
#include "plan/words.h"

namespace lockstep {

std::string memory_help(const Plan& plan, const TrainOptions& options, std::int64_t micro,
                        const std::string& smaller_sample) {
  const MemoryEstimate& memory = plan.memory;
  const double activations =
      needed_bytes(memory, micro, plan.recomputed_blocks) - memory.fixed_bytes;
  std::vector<std::string> ways;
  if (!smaller_sample.empty()) ways.push_back(smaller_sample);
  if (memory.blocks > plan.recomputed_blocks) {
    const double saved = needed_bytes(memory, micro, plan.recomputed_blocks) -
                         needed_bytes(memory, micro, memory.blocks);
    ways.push_back(cat("memory.recompute=blocks (about ", format_bytes(saved), " less)"));
  }
  if (plan.batch.world_size > 1 && !options.shard_optimizer && !options.exact) {
    const double ranks = static_cast<double>(plan.batch.world_size);
    ways.push_back(cat("shard_optimizer=true (about ",
                       format_bytes(memory.optimizer_bytes * (1 - 1 / ranks)), " less)"));
  }
  if (options.precision == Precision::fp32)
    ways.push_back(cat("precision=bf16, or fp16 before sm_80 (about ",
                       format_bytes(activations / 2), " less)"));
  ways.push_back("a smaller model");
  if (memory.fixed_bytes <= 0) return join(ways, "; ");
  const auto tightest = tightest_device(plan.devices);
  return cat("by estimate ", count_of(micro, "sample"), " at once need", micro == 1 ? "s " : " ",
             format_bytes(memory.fixed_bytes + activations), " a ", rank_word(plan.devices), " (",
             format_bytes(memory.fixed_bytes), " for weights, gradients and the optimizer, ",
             format_bytes(activations), " for activations)",
             tightest ? cat(" of ", format_bytes(tightest->available_bytes), " available") : "",
             "; what would help: ", join(ways, "; "));
}

}  // namespace lockstep
