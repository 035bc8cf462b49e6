#include "runtime/run/events/start_up.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/text/text.h"

namespace lockstep {

std::string start_variable(double begin_s, double now_s, double earlier_s) {
  return cat(fixed(begin_s, 6), " ", fixed(now_s, 6), " ", fixed(earlier_s, 6));
}

StartUp::StartUp(Clock& clock, const char* variable) : clock_(clock), last_s_(clock.now_s()) {
  std::istringstream text(variable == nullptr ? "" : variable);
  double begin_s = 0, launch_s = 0;
  if (!(text >> begin_s >> launch_s) || begin_s > launch_s || launch_s > last_s_) return;
  parts_ = {{"tool", launch_s - begin_s}, {"worker", last_s_ - launch_s}};
  if (double earlier_s = 0; text >> earlier_s && earlier_s > 0) earlier_s_ = earlier_s;
}

void StartUp::done(const std::string& part) {
  const double now_s = clock_.now_s();
  const auto known = std::find_if(parts_.begin(), parts_.end(),
                                  [&](const auto& other) { return other.first == part; });
  if (known != parts_.end())
    known->second += now_s - last_s_;
  else
    parts_.emplace_back(part, now_s - last_s_);
  last_s_ = now_s;
}

double StartUp::seconds() const {
  double sum = 0;
  for (const auto& [part, seconds] : parts_) sum += seconds;
  return sum;
}

nlohmann::json StartUp::to_json() const {
  nlohmann::json parts = nlohmann::json::array();
  for (const auto& [part, seconds] : parts_) parts.push_back({part, seconds});
  return {{"seconds", seconds()}, {"parts", parts}};
}

}  // namespace lockstep
