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
  // Settings after commas, as Help lists them; in the name \xHH stands for a
  // byte, a comma for one. Error: an unknown setting, or one twice, or a value
  // that it cannot have. The store decides whether the options go together.
  static Result<FamilySpec> Parse(std::string_view text);

  // Each of `texts`. Error: that of the first one that has one.
  static Result<std::vector<FamilySpec>> ParseAll(
      const std::vector<std::string>& texts);

  // The help text on all settings: one a line, with the values they take.
  static std::string Help();

  // The text of a family that Parse takes, with all settings.
  static std::string ToText(std::string_view name,
                            const FamilyOptions& options);

  // All settings of a family, name and value, as Parse takes them.
  static std::vector<std::pair<std::string, std::string>> SettingsOf(
      const FamilyOptions& options);

  const std::string& name() const { return name_; }

  // `base` with the settings that were given.
  FamilyOptions ApplyTo(FamilyOptions base) const;

 private:
  std::string name_;
  std::vector<std::function<void(FamilyOptions*)>> settings_;
};

}  // namespace rowbloom
