import Downloads
import Testing

@Suite struct GIDTests {
    @Test func hasSixteenDigits() {
        #expect(GID(1).description == "0000000000000001")
        #expect(GID("2089B05ECCA3D829")?.description == "2089b05ecca3d829")
        #expect(GID.random().description.utf8.count == 16)
    }

    @Test(arguments: [
        "", "1", "0000000000000000", "2089b05ecca3d82", "2089b05ecca3d8290", "2089b05ecca3d82g", "２089b05ecca3d",
    ])
    func refuses(_ text: String) {
        #expect(GID(text) == nil)
    }

    @Test func aJobWithoutAStoredOneKeepsItsDerivedOne() {
        let (one, other) = (JobID("job_01HZX3K9V7Q2N4R8T6W0YB5CDE"), JobID("job_01HZX3K9V7Q2N4R8T6W0YB5CDF"))
        #expect(GID(of: one) == GID(of: one))
        #expect(GID(of: one).description.prefix(8) != GID(of: other).description.prefix(8))
    }

    @Test func aPrefixMatchesItsBeginning() throws {
        let prefix = try #require(GIDPrefix("20AB"))
        #expect(prefix.matches(try #require(GID("20ab000000000000"))))
        #expect(!prefix.matches(try #require(GID("20ac000000000000"))))
        #expect(prefix.gid == nil && GIDPrefix("0000000000000001")?.gid == GID(1))
        for text in ["", "x", "00000000000000001"] { #expect(GIDPrefix(text) == nil) }
    }
}
