#include "tests/stress/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace rowbloom::stress {

void AppendText(std::string_view text, std::string* out) {
  const auto size = static_cast<uint32_t>(text.size());
  char bytes[sizeof(size)];
  std::memcpy(bytes, &size, sizeof(size));
  out->append(bytes, sizeof(bytes)).append(text);
}

std::optional<std::string> TakeText(std::string_view* bytes) {
  uint32_t size = 0;
  if (bytes->size() < sizeof(size)) return std::nullopt;
  std::memcpy(&size, bytes->data(), sizeof(size));
  if (bytes->size() - sizeof(size) < size) return std::nullopt;
  std::string text(bytes->substr(sizeof(size), size));
  bytes->remove_prefix(sizeof(size) + size);
  return text;
}

std::string TakeTextOrThrow(std::string_view* bytes) {
  auto text = TakeText(bytes);
  if (!text) {
    throw std::system_error(EBADMSG, std::generic_category(), "journal");
  }
  return *std::move(text);
}

Journal::Journal(const std::string& path)
    : file_(
          open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (file_ < 0) {
    throw std::system_error(errno, std::generic_category(), path);
  }
}

Journal::~Journal() { close(file_); }

void Journal::Append(std::string_view bytes) {
  const ssize_t written = write(file_, bytes.data(), bytes.size());
  if (written != static_cast<ssize_t>(bytes.size())) {
    throw std::system_error(written < 0 ? errno : ENOSPC,
                            std::generic_category(), "journal");
  }
}

void Journal::Intend(std::string_view changes) {
  std::string record = "I";
  AppendText(changes, &record);
  Append(record);
}

Journal::Contents Journal::Replay(const std::string& path) {
  Contents contents;
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  file.close();
  std::string_view rest = bytes;
  size_t whole = 0;  // bytes of whole records
  for (; !rest.empty(); whole = bytes.size() - rest.size()) {
    const char mark = rest.front();
    rest.remove_prefix(1);
    if (mark == 'I') {
      contents.pending = TakeText(&rest);
      if (!contents.pending) break;
      continue;
    }
    if (mark == 'A') {
      contents.acknowledged.push_back(std::move(contents.pending.value()));
    }
    contents.pending.reset();
  }
  if (whole < bytes.size()) std::filesystem::resize_file(path, whole);
  return contents;
}

}  // namespace rowbloom::stress
