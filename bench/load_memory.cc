#include "bench/load_memory.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>

#include "bench/store_bench_databases.h"

namespace rowbloom::bench {
namespace {

using rocksdb::Status;

// A field of this process's status in bytes, such as VmRSS.
std::optional<uint64_t> StatusBytes(std::string_view field) {
  std::ifstream file("/proc/self/status");
  for (std::string name; file >> name; file.ignore(1 << 10, '\n')) {
    if (name != std::string(field) + ":") continue;
    uint64_t kilobytes = 0;
    if (file >> kilobytes) return kilobytes << 10;
  }
  return std::nullopt;
}

// Makes VmHWM, the peak of VmRSS, start again.
bool ForgetPeak() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

class Batches {
 public:
  Batches(size_t batch_bytes, Store* store)
      : batch_bytes_(batch_bytes), store_(store) {}

  Status Put(std::string_view row, const InputCell& cell) {
    batch_.Put(row, kFamily, cell.qualifier, cell.value);
    bytes_ += row.size() + cell.qualifier.size() + cell.value.size();
    return bytes_ < batch_bytes_ ? Status::OK() : Write();
  }

  Status Write() {
    Status s = store_->Write(batch_);
    batch_.Clear();
    bytes_ = 0;
    return s;
  }

 private:
  const size_t batch_bytes_;
  Store* const store_;
  WriteBatch batch_;
  size_t bytes_ = 0;
};

Status LoadTimes(const std::vector<InputCell>& input, uint64_t times,
                 size_t batch_bytes, const std::string& path) {
  std::unique_ptr<Store> store;
  Status s = CreateStore({}, {}, path, &store);
  if (!s.ok()) return s;
  Batches batches(batch_bytes, store.get());
  for (uint64_t time = 0; time < times; ++time) {
    const std::string suffix = time == 0 ? "" : "+" + std::to_string(time);
    for (const InputCell& cell : input) {
      s = batches.Put(cell.row + suffix, cell);
      if (!s.ok()) return s;
    }
  }
  s = batches.Write();
  return s.ok() ? store->Flush() : s;
}

// The results that the child tells its parent.
struct Outcome {
  bool loaded = false;
  bool measured = false;
  uint64_t peak_bytes = 0;
};

Outcome LoadAndMeasure(const std::vector<InputCell>& input, uint64_t times,
                       size_t batch_bytes, const std::string& path) {
  Outcome outcome;
  const bool forgot = ForgetPeak();
  const auto before = StatusBytes("VmRSS");
  outcome.loaded = LoadTimes(input, times, batch_bytes, path).ok();
  const auto peak = StatusBytes("VmHWM");
  if (forgot && before && peak && *peak >= *before) {
    outcome.measured = true;
    outcome.peak_bytes = *peak - *before;
  }
  return outcome;
}

}  // namespace

Status LoadStore(const std::vector<InputCell>& input, size_t batch_bytes,
                 Store* store) {
  Batches batches(batch_bytes, store);
  for (const InputCell& cell : input) {
    Status s = batches.Put(cell.row, cell);
    if (!s.ok()) return s;
  }
  Status s = batches.Write();
  return s.ok() ? store->Flush() : s;
}

Status MeasureLoadMemory(const std::vector<InputCell>& input, uint64_t times,
                         size_t batch_bytes, const std::string& db_dir,
                         LoadMemory* memory) {
  *memory = {};
  for (const InputCell& cell : input) {
    memory->cell_bytes +=
        cell.row.size() + cell.qualifier.size() + cell.value.size();
  }
  memory->cells = times * input.size();
  memory->cell_bytes *= times;
  const std::string path =
      (std::filesystem::path(db_dir) / "load_memory").string();
  int ends[2];
  if (pipe(ends) != 0) return Status::IOError("cannot make a pipe");
  const pid_t child = fork();
  if (child == 0) {
    const Outcome outcome = LoadAndMeasure(input, times, batch_bytes, path);
    const bool told =
        write(ends[1], &outcome, sizeof(outcome)) == sizeof(outcome);
    _exit(told ? 0 : 1);
  }
  close(ends[1]);
  Outcome outcome;
  const bool heard =
      child > 0 && read(ends[0], &outcome, sizeof(outcome)) == sizeof(outcome);
  close(ends[0]);
  if (child > 0) {
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  std::filesystem::remove_all(path);
  if (!heard || !outcome.loaded) {
    return Status::IOError("the process that loads to measure memory failed");
  }
  if (outcome.measured) memory->peak_bytes = outcome.peak_bytes;
  return Status::OK();
}

}  // namespace rowbloom::bench
