import Glibc
import Testing

@testable import Storage
@testable import StorageSQLite

/// Lines as SQLite 3.40 writes them to its error log.
@Suite struct FileErrorsTests {
    @Test func readsTheErrorOfEachDatabaseFileOnce() {
        FileErrors.note("os_unix.c:43765: (28) full_fsync(/tmp/file-errors/a.sqlite-wal) - No space left on device")
        FileErrors.note("os_unix.c:41932: (5) pread(/tmp/file-errors/b.sqlite) - Input/output error")
        #expect(FileErrors.take(ofDatabase: "file-errors/a.sqlite") == ENOSPC)
        #expect(FileErrors.take(ofDatabase: "/tmp/file-errors/a.sqlite") == nil)
        #expect(FileErrors.take(ofDatabase: "/tmp/file-errors/b.sqlite") == EIO)
    }

    @Test func ignoresOtherLines() {
        FileErrors.note("statement aborts at 2: [SELECT x] no such column: x")
        #expect(FileErrors.take(ofDatabase: "statement") == nil)
    }
}
