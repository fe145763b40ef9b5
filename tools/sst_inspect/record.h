// Record: one line of --json output, a flat JSON object. A verb prints one for
// each thing it has to say, as it goes, so that output of any length takes no
// memory: "JSON Lines". README.md lists the records of each verb.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rowbloom::sst_inspect {

class Record {
 public:
  // Starts with "record": kind, "file": path.
  Record(std::string_view kind, std::string_view path);
  ~Record();
  Record(Record&&) noexcept;

  // Adds a member; members keep their order. Text must be printable; what is
  // not UTF-8 is replaced.
  Record& Text(std::string_view name, std::string_view value);
  Record& Number(std::string_view name, uint64_t value);
  Record& Signed(std::string_view name, int64_t value);
  // null when it is no finite number.
  Record& Real(std::string_view name, double value);
  Record& Flag(std::string_view name, bool value);
  // null when there is none.
  Record& Number(std::string_view name, const std::optional<uint64_t>& value);
  Record& Real(std::string_view name, const std::optional<double>& value);

  void Print(std::ostream& out) const;

 private:
  struct Object;
  std::unique_ptr<Object> object_;
};

}  // namespace rowbloom::sst_inspect
