// FamilySpec: a family and its options as people write them,
// "info,bloom=ROW,versions=3,ttl=60s".
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rowbloom/result.h"
#include "rowbloom/store_options.h"

namespace rowbloom {

class FamilySpec {
 public:
  // Parses a name and, after commas, settings as Help lists them. In the name,
  // \xHH represents a byte, such as a comma. Error: an unknown or repeated
  // setting, or an invalid value. The store checks that the options are
  // compatible.
  static Result<FamilySpec> Parse(std::string_view text);

  // Parses each of `texts`. Error: the first one.
  static Result<std::vector<FamilySpec>> ParseAll(
      const std::vector<std::string>& texts);

  // Returns the help text: all settings, one a line, with their values.
  static std::string Help();

  // Returns a text that Parse accepts, with all settings of a family.
  static std::string ToText(std::string_view name,
                            const FamilyOptions& options);

  // Returns name and value of all settings of a family, as Parse accepts them.
  static std::vector<std::pair<std::string, std::string>> SettingsOf(
      const FamilyOptions& options);

  const std::string& name() const { return name_; }

  // Returns `base` with the given settings.
  FamilyOptions ApplyTo(FamilyOptions base) const;

 private:
  std::string name_;
  std::vector<std::function<void(FamilyOptions*)>> settings_;
};

}  // namespace rowbloom
