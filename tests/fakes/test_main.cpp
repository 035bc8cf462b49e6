// The main function of every test program. With --record=FILE it writes down what becomes of each
// test, a line at a time, so that the count is one of tests and a test that ends the program is
// known (scripts/lib/test_summary.py):
//   tests COUNT; began NAME; passed|failed|skipped MILLISECONDS NAME [REASON]; separated by tabs.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

namespace {

class Record : public ::testing::EmptyTestEventListener {
 public:
  explicit Record(const std::filesystem::path& path) : process_(getpid()) {
    std::filesystem::create_directories(path.parent_path());
    file_ = std::fopen(path.c_str(), "we");
    if (file_ == nullptr) std::perror(path.c_str());
  }
  ~Record() override {
    if (file_ != nullptr) std::fclose(file_);
  }
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;
  bool is_open() const { return file_ != nullptr; }

 private:
  void OnTestProgramStart(const ::testing::UnitTest& program) override {
    write("tests\t" + std::to_string(program.test_to_run_count()));
  }
  void OnTestStart(const ::testing::TestInfo& test) override {
    reason_.clear();
    write("began\t" + name(test));
  }
  void OnTestPartResult(const ::testing::TestPartResult& part) override {
    if (part.skipped()) reason_ = part.message();
  }
  void OnTestEnd(const ::testing::TestInfo& test) override {
    const ::testing::TestResult& result = *test.result();
    const char* const outcome = result.Failed()    ? "failed"
                                : result.Skipped() ? "skipped"
                                                   : "passed";
    std::replace_if(
        reason_.begin(), reason_.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
    write(outcome + ("\t" + std::to_string(result.elapsed_time())) + "\t" + name(test) + "\t" +
          reason_);
  }
  static std::string name(const ::testing::TestInfo& test) {
    return std::string(test.test_suite_name()) + "." + test.name();
  }
  // A child that a test forked writes nothing here.
  void write(const std::string& line) {
    if (getpid() != process_) return;
    std::fprintf(file_, "%s\n", line.c_str());
    std::fflush(file_);
  }

  pid_t process_;
  std::FILE* file_ = nullptr;
  std::string reason_;
};

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  constexpr std::string_view flag = "--record=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.substr(0, flag.size()) != flag) {
      std::fprintf(stderr, "error: unknown word '%s'\n", argv[i]);
      return 2;
    }
    auto* const record = new Record(word.substr(flag.size()));
    if (!record->is_open()) return 2;
    ::testing::UnitTest::GetInstance()->listeners().Append(record);
  }
  return RUN_ALL_TESTS();
}
