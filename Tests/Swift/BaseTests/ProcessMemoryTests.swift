import Base
import Testing

@Suite(.serialized) struct ProcessMemoryTests {
    /// The code of this program and its libraries that is in memory, in KiB.
    private func residentCode() throws -> Int {
        var (isCode, total) = (false, 0)
        for line in try #require(KernelFile.text(of: "/proc/self/smaps")).split(separator: "\n") {
            let columns = line.split(separator: " ", omittingEmptySubsequences: true)
            if columns[0].contains("-") {
                isCode = columns[1] == "r-xp" && columns.count > 5
            } else if isCode, columns[0] == "Rss:" {
                total += Int(columns[1]) ?? 0
            }
        }
        return total
    }

    @Test func readsAFileOfTheKernelThatIsLongerThanAPage() throws {
        let maps = try #require(KernelFile.text(of: "/proc/self/maps"))
        #expect(maps.utf8.count > 4096)
        #expect(maps.contains("[stack]"))
        #expect(KernelFile.text(of: "/proc/self/none") == nil)
    }

    @Test func codeThatIsUnmappedComesBack() throws {
        let before = try residentCode()
        FreedMemory.unmapCode()
        let after = try residentCode()
        #expect(after < before * 3 / 4)
        #expect("the code still works".uppercased().hasPrefix("THE CODE"))
    }
}
