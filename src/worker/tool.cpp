// Spawns the tool and reads its answer.
#include "worker/tool.h"

#include "base/child_output.h"
#include "base/error.h"
#include "base/files.h"
#include "base/program.h"
#include "base/text.h"

#include <filesystem>
#include <utility>

namespace lockstep {

std::string create_run_with_tool(const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& devices) {
  const TemporaryDirectory scratch;
  const std::filesystem::path world = scratch.path() / "world.json";
  write_file_atomic(world, cat("[", join(devices, ","), "]"));
  std::vector<std::string> words{(program_folder() / "lockstep").string(), "train"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.push_back("--world=" + world.string());
  const ChildOutput answer = child_output(std::move(words));
  const std::string path = trim(answer.out);
  if (answer.code != 0 || path.empty())
    throw Error("the run could not be set up; rank 0's output above says why");
  return path;
}

}  // namespace lockstep
