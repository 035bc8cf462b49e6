// Slurm's commands as scripts, in front of PATH: what they were asked is in a file, and sbatch may
// run the tasks at once, one after the other.
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "process/batch/batch_rig.h"

namespace lockstep {

class FakeSlurm : public BatchRig {
 protected:
  FakeSlurm() {
    std::filesystem::create_directories(fake());
    program("sbatch",
            "echo \"$@\" >> $FAKE_SLURM/calls\n"
            "if [ -e $FAKE_SLURM/refuse ]; then echo 'sbatch: error: no such partition' >&2; exit "
            "1; fi\n"
            "n=$(($(cat $FAKE_SLURM/count 2>/dev/null || echo 100) + 1)); echo $n > "
            "$FAKE_SLURM/count\n"
            "for script; do :; done\n"
            "cp \"$script\" $FAKE_SLURM/$n.sh\n"
            "last=$(sed -n 's/^#SBATCH --array=0-\\([0-9]*\\).*/\\1/p' \"$script\")\n"
            "if [ ! -e $FAKE_SLURM/wait ]; then\n"
            "  for i in $(seq 0 $last); do\n"
            "    (cd / && SLURM_ARRAY_TASK_ID=$i sh \"$script\" > $FAKE_SLURM/$n.$i.out 2>&1)\n"
            "  done\n"
            "fi\n"
            "echo $n\n");
    program("squeue", "echo \"$@\" >> $FAKE_SLURM/asked; cat $FAKE_SLURM/queue 2>/dev/null; :\n");
    program("scancel", "echo \"$@\" >> $FAKE_SLURM/cancelled\n");
    environment["FAKE_SLURM"] = fake().string();
    environment["PATH"] = (folder.path() / "bin").string() + ":" + std::getenv("PATH");
  }
  std::filesystem::path fake() const { return folder.path() / "fake"; }
  void program(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(folder.path() / "bin");
    const std::filesystem::path path = folder.path() / "bin" / name;
    std::ofstream(path) << "#!/bin/sh\n" << text;
    std::filesystem::permissions(path, std::filesystem::perms(0755));
  }
  void only_queue() const { std::ofstream(fake() / "wait"); }
  void run_at_once() const { std::filesystem::remove(fake() / "wait"); }
  // Runs what was handed over as array `job`, task by task.
  int run_task(int job, int index) const {
    const std::string line = "cd / && SLURM_ARRAY_TASK_ID=" + std::to_string(index) + " PATH='" +
                             environment.at("PATH") + "' FAKE_SLURM='" + fake().string() +
                             "' XDG_STATE_HOME='" + (folder.path() / ".state").string() + "' sh '" +
                             (fake() / (std::to_string(job) + ".sh")).string() + "' > '" +
                             (fake() / "task.out").string() + "' 2>&1";
    return std::system(line.c_str());
  }
  std::string calls() const { return text("fake/calls"); }
  std::string script(int job) const { return text("fake/" + std::to_string(job) + ".sh"); }
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(folder.path() / name) << content;
  }
  testing::ToolResult slurm(const Words& more = {}) {
    Words words{"batch", "slurm", "b.toml"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
};

// x = 1 … count; the job of `bad` fails.
inline std::string numbers(int count, int bad = 0) {
  return "command = [\"sh\", \"-c\", \"echo said {x}; echo {x} >> $FAKE_SLURM/ran; echo {x} > "
         "$LOCKSTEP_OUT/v; test {x} != " +
         std::to_string(bad) +
         " -o -e $FAKE_SLURM/mended\"]\n[matrix]\nx = {from = 1, to = " + std::to_string(count) +
         "}\n";
}

}  // namespace lockstep
