// SQLite: one table without row ids, its primary key row and qualifier, with a
// write-ahead log that is handed to the operating system with each commit
// (synchronous=NORMAL), and prepared statements.
#include <sqlite3.h>

#include <array>
#include <filesystem>

#include "bench/engines.h"

namespace rowbloom::bench {
namespace {

using rocksdb::Status;

class SqliteEngine final : public Engine {
 public:
  ~SqliteEngine() override {
    for (sqlite3_stmt* statement : {begin_, commit_, put_, get_, row_, scan_}) {
      sqlite3_finalize(statement);
    }
    sqlite3_close(db_);
  }

  Status Open(const std::string& path, uint64_t cache_bytes) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) return Status::IOError(path, error.message());
    Status s = Checked(sqlite3_open((path + "/cells.db").c_str(), &db_));
    const std::string set_up =
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
        "PRAGMA cache_size=-" +
        std::to_string(cache_bytes / 1024) +
        ";"
        "CREATE TABLE cells (row BLOB, qualifier BLOB, value BLOB,"
        " PRIMARY KEY (row, qualifier)) WITHOUT ROWID;";
    if (s.ok()) {
      s = Checked(sqlite3_exec(db_, set_up.c_str(), nullptr, nullptr, nullptr));
    }
    const std::array<std::pair<const char*, sqlite3_stmt**>, 6> statements = {{
        {"BEGIN", &begin_},
        {"COMMIT", &commit_},
        {"INSERT INTO cells VALUES (?, ?, ?) ON CONFLICT (row, qualifier)"
         " DO UPDATE SET value = excluded.value",
         &put_},
        {"SELECT row, qualifier, value FROM cells"
         " WHERE row = ? AND qualifier = ?",
         &get_},
        {"SELECT row, qualifier, value FROM cells WHERE row = ?", &row_},
        {"SELECT row, qualifier, value FROM cells WHERE row >= ?"
         " ORDER BY row, qualifier",
         &scan_},
    }};
    for (const auto& [text, statement] : statements) {
      if (!s.ok()) return s;
      s = Checked(sqlite3_prepare_v3(db_, text, -1, SQLITE_PREPARE_PERSISTENT,
                                     statement, nullptr));
    }
    return s;
  }

  Status Write(std::span<const CellView> cells) override {
    // A statement alone commits by itself.
    Status s = cells.size() > 1 ? Run(begin_, {}) : Status::OK();
    for (const CellView& cell : cells) {
      if (s.ok()) s = Run(put_, {cell.row, cell.qualifier, cell.value});
    }
    return s.ok() && cells.size() > 1 ? Run(commit_, {}) : s;
  }

  Status Get(std::string_view row, std::string_view qualifier,
             Answers* answers) override {
    return Select(get_, {row, qualifier}, 1, answers);
  }
  Status GetRow(std::string_view row, Answers* answers) override {
    return Select(row_, {row}, 1, answers);
  }
  Status Scan(std::string_view start, uint64_t rows,
              Answers* answers) override {
    return Select(scan_, {start}, rows, answers);
  }

  Status Flush() override {
    return Checked(sqlite3_wal_checkpoint_v2(
        db_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr));
  }

 private:
  using Parameters = std::initializer_list<std::string_view>;

  Status Checked(int result) const {
    return result == SQLITE_OK ? Status::OK()
                               : Status::IOError("SQLite", sqlite3_errmsg(db_));
  }

  Status Bind(sqlite3_stmt* statement, Parameters parameters) const {
    int place = 0;
    for (const std::string_view bytes : parameters) {
      const int result =
          sqlite3_bind_blob(statement, ++place, bytes.data(),
                            static_cast<int>(bytes.size()), SQLITE_STATIC);
      if (result != SQLITE_OK) return Checked(result);
    }
    return Status::OK();
  }

  Status Run(sqlite3_stmt* statement, Parameters parameters) const {
    Status s = Bind(statement, parameters);
    if (!s.ok()) return s;
    sqlite3_step(statement);
    return Checked(sqlite3_reset(statement));  // says what the step said
  }

  static std::string_view Column(sqlite3_stmt* statement, int column) {
    const void* bytes = sqlite3_column_blob(statement, column);
    return {static_cast<const char*>(bytes),
            static_cast<size_t>(sqlite3_column_bytes(statement, column))};
  }

  Status Select(sqlite3_stmt* statement, Parameters parameters, uint64_t rows,
                Answers* answers) {
    Status s = Bind(statement, parameters);
    if (!s.ok()) return s;
    last_.clear();
    while (sqlite3_step(statement) == SQLITE_ROW) {
      const std::string_view row = Column(statement, 0);
      if (row != last_) {
        if (rows-- == 0) break;
        last_ = row;
      }
      answers->Add({row, Column(statement, 1), Column(statement, 2)});
    }
    return Checked(sqlite3_reset(statement));
  }

  sqlite3* db_ = nullptr;
  sqlite3_stmt* begin_ = nullptr;
  sqlite3_stmt* commit_ = nullptr;
  sqlite3_stmt* put_ = nullptr;
  sqlite3_stmt* get_ = nullptr;
  sqlite3_stmt* row_ = nullptr;
  sqlite3_stmt* scan_ = nullptr;
  std::string last_;
};

}  // namespace

Status CreateSqlite(const std::string& path, uint64_t cache_bytes,
                    std::unique_ptr<Engine>* engine) {
  auto created = std::make_unique<SqliteEngine>();
  const Status s = created->Open(path, cache_bytes);
  *engine = std::move(created);
  return s;
}

}  // namespace rowbloom::bench
