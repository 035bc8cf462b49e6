// write-runs FOLDER: the runs of docs/guide/compare.md, as trainings leave them: a1 to a3 in fp32,
// and b1 to b3 in bf16, on GPUs with lower clocks, which take 8 % longer for a step.
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/written_runs.h"

#include <array>
#include <string>

int main(int count, char** words) {
  using namespace lockstep;
  if (count != 2) return 2;
  for (int i = 1; i <= 3; ++i) {
    const double noise = 1 + 0.002 * (i - 2);
    for (const bool is_new : {false, true}) {
      const testing::WrittenRun made{.name = cat(is_new ? "b" : "a", i),
                                     .step_s = (is_new ? 0.108 : 0.1) * noise,
                                     .best_loss = (is_new ? 1.491 : 1.5) + 0.003 * (i - 2),
                                     .seed = i,
                                     .precision = is_new ? "bf16" : "fp32"};
      const RunDir run = testing::make_run(words[1], made);
      constexpr double begin = 1'000'005, seconds = 10;
      const testing::MadeGpu gpu{.power_w = is_new ? 600.0 + i : 500.0 + i,
                                 .clock_mhz = is_new ? 1700.0 : 1900.0};
      write_file_atomic(run.path() / "gpu.csv", testing::gpu_csv(begin, begin + seconds, {gpu}));
    }
  }
}
