// Test programs do not wait for the disk: these functions take the place of the
// C library's, for RocksDB's calls, too. On a disk, waiting takes most of the
// time of tests that open hundreds of databases. Nothing that a test proves is
// lost: power cuts are tests of Disk, which knows of each sync by itself
// (disk.h), and the tools, which transcripts run, sync as ever.
#include <unistd.h>

extern "C" {

int fsync(int /*descriptor*/) { return 0; }
int fdatasync(int /*descriptor*/) { return 0; }

}  // extern "C"
