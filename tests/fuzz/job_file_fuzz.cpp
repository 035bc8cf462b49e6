// Job files of lockstep batch. They are read in a place where the files that they name do not
// exist.
#include "fuzz.h"
#include "job_list.h"
#include "tools/jobs/job_file/job_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  most_jobs = 300;
  static const fuzz::MemoryFile file;
  file.write(fuzz::text_of(data, size));
  JobList list;
  if (!fuzz::accepts([&] { list = read_job_file(file.path()); })) return 0;
  fuzz::check_job_list(list);
  const JobList again = read_job_file(file.path());
  LOCKSTEP_CHECK(again.jobs.size() == list.jobs.size());
  for (std::size_t i = 0; i < list.jobs.size(); ++i)
    LOCKSTEP_CHECK(again.jobs[i].key == list.jobs[i].key &&
                   again.jobs[i].name == list.jobs[i].name);
  return 0;
}
