#include "tools/cli/abtest/abtest_trial.h"

#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "core/base/process/signal_mask.h"

namespace lockstep::cli {
namespace {

// Whether to examine the result after this number of pairs. With many pairs, examining each takes
// longer than the pairs themselves.
bool is_due(std::size_t pairs) {
  constexpr std::size_t few = 1000;
  return pairs <= few || pairs % (pairs / few * 10) == 0;
}

class Running {
 public:
  Running(const AbtestSpec& spec, const RunOnce& run_once, const OnPair& on_pair, Clock& clock,
          const std::function<void()>& give_up)
      : spec_(spec),
        run_once_(run_once),
        on_pair_(on_pair),
        clock_(clock),
        give_up_(give_up),
        begin_s_(clock.now_s()) {}

  AbtestTrial run() {
    if (spec_.places == 1) {
      run_place(0);
    } else {
      const BlockedSignals blocked;  // the main thread handles signals
      std::vector<std::thread> threads;
      for (int place = 0; place < spec_.places; ++place)
        threads.emplace_back([this, place] { run_place_caught(place); });
      for (std::thread& thread : threads) thread.join();
      if (problem_) std::rethrow_exception(problem_);
    }
    trial_.took_s = clock_.now_s() - begin_s_;
    return std::move(trial_);
  }

 private:
  void run_place_caught(int place) {
    try {
      run_place(place);
    } catch (...) {
      const std::lock_guard guard(mutex_);
      if (!problem_) problem_ = std::current_exception();
      over_ = true;
      give_up_();
    }
  }

  void run_place(int place) {
    for (int i = 1; i <= spec_.warmup; ++i)
      for (const AbtestSide side : {AbtestSide::a, AbtestSide::b})
        if (!run_once_({side, -i, place})) return end(AbtestEnd::interrupted);
    while (const std::optional<int> number = next_pair()) {
      AbtestPair pair{.number = *number,
                      .b_first = b_runs_first(spec_.order, spec_.seed, *number),
                      .place = place};
      const double begun_s = clock_.now_s();
      for (const bool is_b : {pair.b_first, !pair.b_first}) {
        const auto measured = run_once_({is_b ? AbtestSide::b : AbtestSide::a, *number, place});
        if (!measured) return end(AbtestEnd::interrupted);
        (is_b ? pair.b : pair.a) = *measured;
      }
      take(std::move(pair), clock_.now_s() - begun_s);
    }
  }

  // Returns nothing if no more pairs begin.
  std::optional<int> next_pair() {
    const std::lock_guard guard(mutex_);
    if (over_) return std::nullopt;
    if (spec_.repeats && begun_ >= *spec_.repeats) return end_now(AbtestEnd::repeats);
    if (spec_.budget_s && !trial_.pairs.empty()) {
      const double pair_s = pairs_s_ / static_cast<double>(trial_.pairs.size());
      if (clock_.now_s() - begin_s_ + pair_s > *spec_.budget_s) return end_now(AbtestEnd::budget);
    }
    return begun_++;
  }

  void take(AbtestPair pair, double took_s) {
    const std::lock_guard guard(mutex_);
    trial_.pairs.push_back(std::move(pair));
    pairs_s_ += took_s;
    if (!is_due(trial_.pairs.size())) return;
    const Contrast contrast = trial_contrast(trial_.pairs, spec_.rule);
    // The first reason for the end is kept.
    if (!over_ && narrow_enough(contrast, spec_.rule)) end_now(AbtestEnd::narrow);
    trial_.took_s = clock_.now_s() - begin_s_;
    on_pair_(trial_, contrast);
  }

  void end(AbtestEnd why) {
    const std::lock_guard guard(mutex_);
    // If a fault in another thread ended these runs, there was no interrupt.
    if (!problem_) {
      trial_.end = why;
      over_ = true;
    }
  }

  std::nullopt_t end_now(AbtestEnd why) {
    trial_.end = why;
    over_ = true;
    return std::nullopt;
  }

  const AbtestSpec& spec_;
  const RunOnce& run_once_;
  const OnPair& on_pair_;
  Clock& clock_;
  const std::function<void()>& give_up_;
  double begin_s_;
  std::mutex mutex_;  // protects all members below
  AbtestTrial trial_;
  int begun_ = 0;       // number of pairs that have begun
  double pairs_s_ = 0;  // total time of the complete pairs
  bool over_ = false;
  std::exception_ptr problem_;
};

}  // namespace

AbtestTrial run_trial(const AbtestSpec& spec, const RunOnce& run_once, const OnPair& on_pair,
                      Clock& clock, const std::function<void()>& give_up) {
  return Running(spec, run_once, on_pair, clock, give_up).run();
}

std::vector<double> values_of(const std::vector<AbtestPair>& pairs, AbtestSide side,
                              const std::function<double(const AbtestRun&)>& value) {
  std::vector<double> values;
  for (const AbtestPair& pair : pairs)
    values.push_back(value(side == AbtestSide::a ? pair.a : pair.b));
  return values;
}

Contrast trial_contrast(const std::vector<AbtestPair>& pairs, const StoppingRule& rule) {
  const auto value = [](const AbtestRun& measured) { return measured.value; };
  return paired_contrast(rule.scale, values_of(pairs, AbtestSide::a, value),
                         values_of(pairs, AbtestSide::b, value), rule.confidence);
}

}  // namespace lockstep::cli
