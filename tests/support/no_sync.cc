// Test programs do not wait for the disk: these functions take the place of the
// C library's, for RocksDB's calls, too. On a disk, waiting takes most of the
// time of tests that open hundreds of databases. So do megabytes that RocksDB
// reserves for each log. Nothing that a test proves is lost: power cuts are
// tests of Disk, which knows of each sync by itself (disk.h), and the tools,
// which transcripts run, sync as ever.
#include <fcntl.h>
#include <unistd.h>

extern "C" {

int fsync(int /*descriptor*/) { return 0; }
int fdatasync(int /*descriptor*/) { return 0; }
int sync_file_range(int /*descriptor*/, off64_t /*offset*/, off64_t /*bytes*/,
                    unsigned /*flags*/) {
  return 0;
}
int fallocate(int /*descriptor*/, int /*mode*/, off_t /*offset*/,
              off_t /*bytes*/) {
  return 0;
}

}  // extern "C"
