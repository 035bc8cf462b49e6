#include "worker/bench.h"

#include "core/base/error.h"
#include "runtime/launch/launch.h"
#include "runtime/run/events/events.h"
#include "training/trainer/output/link_speed.h"
#include "training/trainer/stopping/stop.h"
#include "worker/session.h"

#include <unistd.h>

#include <cstdio>

namespace lockstep {
namespace {

constexpr int repeats = 10;

void measure_all_reduce(Session& session) {
  const std::int64_t bytes_each =
      session.setup.train->reduce_precision == ReducePrecision::bf16 ? 2 : 4;
  const std::int64_t bytes = session.setup.prepared.facts.parameters * bytes_each;
  if (bytes == 0 || session.world.size == 1) return;
  const std::vector<double> seconds =
      probe_all_reduce(*session.group, *session.backend, bytes, repeats);
  if (session.world.rank == 0)
    EventWriter(session.run->events_path())
        .write({{"kind", "all_reduce"}, {"bytes", bytes}, {"seconds", seconds}});
}

}  // namespace

int measure_run(const std::string& run, bool longest_first) {
  Session session = open_session(run, "", own_world());
  TrainerSetup setup = session.trainer(false);
  setup.measure_only = true;
  setup.longest_first = longest_first;
  catch_stop_signals();
  const TrainEnd end = train(setup);
  if (end == TrainEnd::finished) measure_all_reduce(session);
  session.group->shutdown();
  return end == TrainEnd::finished ? exit_finished : exit_stopped;
}

}  // namespace lockstep
