// Saves for which memory is short: of the device, of the pinned host, and of everything.
#include "core/base/files/files.h"
#include "fakes/forwarding_backend.h"
#include "fakes/thread_ranks.h"
#include "fakes/toy_recipe.h"
#include "training/checkpoint/host_copy.h"
#include "training/checkpoint/snapshot.h"
#include "training/checkpoint/tensor_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ATen/ops/linspace.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include <limits>

namespace lockstep {
namespace {

using ::testing::HasSubstr;

void run_out() { TORCH_CHECK_WITH(OutOfMemoryError, false, "no memory, by request"); }

// What one allocation of this thread may take.
thread_local std::size_t largest_bytes = std::numeric_limits<std::size_t>::max();

class SmallMemory : public c10::Allocator {
 public:
  explicit SmallMemory(c10::Allocator* below) : below_(below) {}
  static void install() {
    static SmallMemory memory(c10::GetCPUAllocator());
    c10::SetCPUAllocator(&memory, /*priority=*/200);
  }
  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes > largest_bytes) run_out();
    return below_->allocate(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return below_->raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    below_->copy_data(to, from, bytes);
  }

 private:
  c10::Allocator* below_;
};

// The CPU's, whose first `failures` downloads run out of memory.
class ShortBackend : public testing::ForwardingBackend {
 public:
  explicit ShortBackend(int failures_in) : failures(failures_in) {}
  std::unique_ptr<Download> download(const at::Tensor& tensor) override {
    if (failures-- > 0) run_out();
    return ForwardingBackend::download(tensor);
  }
  void release_cached_memory() override { ++released; }
  void release_cached_host_memory() override { ++released_host; }

  int failures, released = 0, released_host = 0;
};

TEST(HostCopy, IsTriedAgainOnceWhatIsKeptForLaterIsFreed) {
  ShortBackend backend(1);
  const at::Tensor values = at::linspace(0, 1, 7);
  EXPECT_TRUE(copy_to_host(backend, values)->get().equal(values));
  EXPECT_EQ(backend.released, 1);
  EXPECT_EQ(backend.released_host, 1);
}

TEST(HostCopy, GoesIntoOrdinaryMemoryWhereNoPinnedMemoryIsLeft) {
  ShortBackend backend(100);
  at::Tensor values = at::linspace(0, 1, 7);
  const at::Tensor then = values.clone();
  const auto copy = copy_to_host(backend, values);
  values.zero_();
  EXPECT_TRUE(copy->get().equal(then));
}

// The toy beside a matrix that makes buckets large. In bf16, so that ranks share the master
// weights.
struct ScarceRig {
  TrainOptions options;
  testing::ToyModel model;
  at::Tensor wide;
  ParameterStorage storage;
  GradientBuffers gradients;
  Optimizer optimizer;

  explicit ScarceRig(ProcessGroup* sharing)
      : model(1),
        wide(at::linspace(-1, 1, 600 * 500).view({600, 500}).set_requires_grad(true)),
        storage((options.precision = Precision::bf16, parameters()), at::kCPU, at::kBFloat16,
                sharing),
        gradients(storage),
        optimizer(options, gradients) {}
  std::vector<Parameter> parameters() {
    auto all = model.parameters();
    all.push_back({"wide", wide});
    return all;
  }
  Trained trained() { return {storage, &optimizer, model.buffers()}; }
};

std::string damage_of_save(ScarceRig& rig, Backend& backend, const std::filesystem::path& folder,
                           std::int64_t step) {
  CheckpointSaver saver(folder, {}, backend, [](const CheckpointSaver::Result&) {});
  saver.save(rig.trained(), step, {{"step", step}}, nullptr);
  return saver.finish();
}

TEST(ShortOfMemory, ASaveThatHasNoneIsAResultAndTheNextOneIsWhole) {
  SmallMemory::install();
  const TemporaryDirectory folder;
  ScarceRig rig(nullptr);
  largest_bytes = 1 << 16;
  const std::string damage = damage_of_save(rig, cpu_backend(), folder.path(), 1);
  largest_bytes = std::numeric_limits<std::size_t>::max();
  EXPECT_THAT(damage, HasSubstr("memory ran out"));
  EXPECT_TRUE(list_checkpoints(folder.path(), false).empty());
  EXPECT_EQ(damage_of_save(rig, cpu_backend(), folder.path(), 2), "");
}

// One rank has less memory than the others: all gather smaller chunks.
TEST(ShortOfMemory, OnOneRankMakesAllGatherInSmallerPiecesAndTheFilesAreTheSame) {
  SmallMemory::install();
  for (const int short_rank : {0, 1, 2}) {
    const TemporaryDirectory folder;
    testing::with_ranks(3, [&](ProcessGroup& group) {
      ScarceRig rig(&group);
      if (group.rank() == short_rank) largest_bytes = 500'000;
      if (group.rank() == 0) {
        ShortBackend backend(short_rank == 0 ? 1000 : 0);
        EXPECT_EQ(damage_of_save(rig, backend, folder.path(), 1), "");
      } else {
        give_shards(rig.trained(), cpu_backend());
      }
      largest_bytes = std::numeric_limits<std::size_t>::max();
    });
    ScarceRig whole(nullptr);
    const auto model = map_tensors(newest_good(folder.path())->path / "model.safetensors");
    EXPECT_TRUE(model.at("wide").equal(whole.storage.view(whole.storage.master(), 5)));
    EXPECT_TRUE(model.at("first.weight").equal(whole.storage.view(whole.storage.master(), 0)));
    const auto moments = map_tensors(newest_good(folder.path())->path / "optimizer.safetensors");
    EXPECT_EQ(moments.at("exp_avg.wide").sizes(), whole.wide.sizes());
  }
}

TEST(ShortOfMemory, OnOneRankLeavesNoOtherWaiting) {
  SmallMemory::install();
  for (const int short_rank : {0, 1}) {
    const TemporaryDirectory folder;
    testing::with_ranks(2, [&](ProcessGroup& group) {
      ScarceRig rig(&group);
      for (const std::int64_t step : {1, 2}) {
        if (step == 1 && group.rank() == short_rank) largest_bytes = 1000;
        if (group.rank() == 0) {
          const std::string damage = damage_of_save(rig, cpu_backend(), folder.path(), step);
          EXPECT_EQ(damage.empty(), step == 2) << damage;
        } else {
          give_shards(rig.trained(), cpu_backend());
        }
        largest_bytes = std::numeric_limits<std::size_t>::max();
      }
    });
    EXPECT_EQ(newest_good(folder.path())->step, 2);
  }
}

TEST(ProcessGroup, AgreesOnlyWhereAllRanksDo) {
  testing::with_ranks(3, [](ProcessGroup& group) {
    for (int round = 0; round < 4; ++round) {
      EXPECT_EQ(group.all_agree(group.rank() != round), round == 3);
      EXPECT_TRUE(group.all_agree(true));
    }
  });
}

}  // namespace
}  // namespace lockstep
