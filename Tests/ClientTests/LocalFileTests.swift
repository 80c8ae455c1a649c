import TestKit
import Testing

@testable import Client

@Suite struct LocalFileTests {
    @Test func itAppearsWhenItIsWhole() throws {
        let folder = try TemporaryFolder()
        try folder.write("before", to: "film.mkv")
        let path = folder.path("film.mkv")
        let file = try LocalFile(replacing: path)
        try file.stream.write("after")
        #expect(folder.bytes(of: "film.mkv") == Array("before".utf8))
        try file.commit()
        #expect(folder.bytes(of: "film.mkv") == Array("after".utf8) && folder.files == ["film.mkv"])
        let other = try LocalFile(replacing: path)
        other.discard()
        #expect(folder.files == ["film.mkv"])
        let error = #expect(throws: ClientError.self) { try LocalFile(replacing: folder.path("no/folder")) }
        #expect(error?.status == .unwritable)
    }

    @Test func whereItGoes() throws {
        let folder = try TemporaryFolder()
        #expect(LocalFile.destination(folder.path, name: "a.iso") == folder.path("a.iso"))
        #expect(LocalFile.destination(".", name: "a.iso") == "a.iso")
        #expect(LocalFile.destination(folder.path("b.iso"), name: "a.iso") == folder.path("b.iso"))
        // A folder that is not there is told when the file is made.
        #expect(LocalFile.destination("none/", name: "a.iso") == "none/a.iso")
        for name in ["../x", "..", "", "/etc/passwd"] {
            #expect(!LocalFile.destination("here/", name: name).dropFirst(5).contains("/"))
            #expect(!LocalFile.destination("here/", name: name).hasSuffix("/.."))
        }
    }
}
