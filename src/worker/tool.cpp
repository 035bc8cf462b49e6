// Starts the tool and reads its answer.
#include "worker/tool.h"

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/process/child_output.h"
#include "core/base/process/pass_fd.h"
#include "core/base/process/program.h"
#include "core/base/text/text.h"

#include <filesystem>
#include <utility>

namespace lockstep {

SetUpRun set_up_with_tool(const std::vector<std::string>& arguments,
                          const std::vector<std::string>& devices) {
  const TemporaryDirectory scratch;
  const std::filesystem::path world = scratch.path() / "world.json";
  write_file_atomic(world, cat("[", join(devices, ","), "]"));
  const auto [own_end, tools_end] = socket_pair();
  // The tool's own options come first, because the arguments may contain "--", which ends the
  // options.
  std::vector<std::string> words{(program_folder() / "lockstep").string(), "train",
                                 "--world=" + world.string(),
                                 cat("--lock-socket=", tools_end.get())};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const ChildOutput answer = child_output(std::move(words), tools_end.get());
  const std::string path = trim(answer.out);
  if (answer.code != 0 || path.empty())
    throw Error("the run could not be set up; rank 0's output above says why");
  return {.path = path, .lock = receive_fd(own_end.get())};
}

}  // namespace lockstep
