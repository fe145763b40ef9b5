#include <fmt/format.h>

#include <memory>
#include <ostream>

#include "rowbloom/printable.h"
#include "tools/sst_inspect/file_args.h"
#include "tools/sst_inspect/key_format.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

ExitCode PrintIndex(const TableFile& file, const FileArgs& args,
                    const Output& output) {
  const KeyFormat format{.hex = args.hex,
                         .form = file.key_form(),
                         .timestamp_bytes = file.timestamp_bytes()};
  constexpr const char* kLine = "  {:>9} {:>9} {:>14} {:>10}  {}\n";
  if (!output.json) {
    output.out << WithoutControls(file.path()) << "\n"
               << fmt::format(
                      kLine, "partition", "block", "offset", "bytes",
                      file.index_keys_come_first() ? "from key" : "up to key");
  }
  uint64_t number = 0;
  const rocksdb::Status status =
      file.ForEachIndexEntry([&](const IndexEntryInfo& entry) {
        ++number;
        if (output.json) {
          Record record("index_entry", ToPrintable(file.path()));
          record.Number("block", number)
              .Number("partition", entry.partition)
              .Number("offset", entry.handle.offset_bytes)
              .Number("bytes", entry.handle.size_bytes)
              .Text("key", format.KeyText(entry.user_key));
          if (!entry.first_key.empty()) {
            record.Text("first_key", format.Text(entry.first_key));
          }
          record.Print(output.out);
          return;
        }
        output.out << fmt::format(
            kLine,
            entry.partition == 0 ? "-" : fmt::format("{}", entry.partition),
            number, entry.handle.offset_bytes, entry.handle.size_bytes,
            format.KeyText(entry.user_key));
      });
  return status.ok() ? ExitCode::kOk : Judge(output.err, status);
}

}  // namespace

Action AddIndex(CLI::App* command) {
  const auto args = std::make_shared<FileArgs>();
  args->AddTo(command);
  args->AddHexTo(command);
  return EachFile(args, PrintIndex);
}

}  // namespace rowbloom::sst_inspect
