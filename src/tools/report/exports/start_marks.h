// A run's starts, and how far each got. Exports store them beside the numbers.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lockstep {

struct StartMark {
  std::int64_t step = 0;  // the step after which it began: 0, or the checkpoint's step
  double time = 0;        // unix seconds
  // The last finished step, and the time of the last event, among events that count.
  std::int64_t last_step = 0;
  double last_time = 0;
};

// No export has more of them, since each start of a run takes seconds.
inline constexpr std::size_t most_start_marks = 100'000;

// Collects them from the events that count, in order.
class StartMarks {
 public:
  void event(const nlohmann::json& event);
  void step(double step, double time);  // for a logged step without a value on its line
  const std::vector<StartMark>& all() const { return all_; }

 private:
  void saw(std::int64_t step, double time);

  std::vector<StartMark> all_;
};

// text_of_marks: "[[step, time, last_step, last_time], …]", as MLflow keeps them in a tag.
// marks_of_text skips invalid entries, and returns nothing for more than most_start_marks.
std::string text_of_marks(const std::vector<StartMark>& marks);
std::vector<StartMark> marks_of_text(const std::string& text);

}  // namespace lockstep
