#include <algorithm>
#include <memory>
#include <ostream>

#include "rowbloom/printable.h"
#include "tools/sst_inspect/file_args.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

ExitCode PrintProps(const TableFile& file, const FileArgs& args,
                    const Output& output) {
  const auto value_text = [&](const Property& property) {
    if (!property.text.empty()) return property.text;
    return args.hex ? ToHex(property.bytes) : ToPrintable(property.bytes);
  };
  if (!output.json) output.out << WithoutControls(file.path()) << "\n";
  size_t width = 0;
  const std::vector<Property> properties = file.Properties();
  for (const Property& property : properties) {
    width = std::max(width, ToPrintable(property.name).size());
  }
  for (const Property& property : properties) {
    std::string name = ToPrintable(property.name);
    if (output.json) {
      Record record("property", ToPrintable(file.path()));
      record.Text("name", name);
      if (property.number) {
        record.Number("value", *property.number);
      } else {
        record.Text("value", value_text(property));
      }
      record.Print(output.out);
      continue;
    }
    name.resize(std::max(width, name.size()), ' ');
    output.out << "  " << name << "  "
               << (property.number ? std::to_string(*property.number)
                                   : value_text(property))
               << "\n";
  }
  return ExitCode::kOk;
}

}  // namespace

Action AddProps(CLI::App* command) {
  const auto args = std::make_shared<FileArgs>();
  args->AddTo(command);
  args->AddHexTo(command);
  return EachFile(args, PrintProps);
}

}  // namespace rowbloom::sst_inspect
