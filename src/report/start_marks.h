// Where a run was started, and how far each start came: what exports say of it beside its numbers.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lockstep {

struct StartMark {
  std::int64_t step = 0;  // that it began behind: 0, or that of the checkpoint
  double time = 0;        // unix seconds
  // Of what counts: the last step that was done, and the last event.
  std::int64_t last_step = 0;
  double last_time = 0;
};

// More of them are no export's: each start of a run takes seconds.
inline constexpr std::size_t most_start_marks = 100'000;

// Gathers them from the events that count, in order.
class StartMarks {
 public:
  void event(const nlohmann::json& event);
  void step(double step, double time);  // of a logged step, without a value for its line
  const std::vector<StartMark>& all() const { return all_; }

 private:
  void saw(std::int64_t step, double time);

  std::vector<StartMark> all_;
};

// "[[step, time, last_step, last_time], …]", as MLflow keeps them in a tag; and back, without what
// is none; nothing of more than most_start_marks.
std::string text_of_marks(const std::vector<StartMark>& marks);
std::vector<StartMark> marks_of_text(const std::string& text);

}  // namespace lockstep
