import Foundation
import TestKit
import Testing

@testable import Client

@Suite struct LocalFileTests {
    @Test func replacesFileOnlyOnCommit() throws {
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

    @Test func writesThroughSymbolicLinks() throws {
        let folder = try TemporaryFolder()
        try folder.write("before", to: "files/film.mkv")
        for (link, target) in [("one", "two"), ("two", "files/film.mkv"), ("new", "files/new.mkv")] {
            try FileManager.default.createSymbolicLink(atPath: folder.path(link), withDestinationPath: target)
        }
        for (link, file) in [("one", "files/film.mkv"), ("new", "files/new.mkv")] {
            let local = try LocalFile(replacing: folder.path(link))
            try local.stream.write("after")
            try local.commit()
            #expect(folder.bytes(of: file) == Array("after".utf8))
            #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: folder.path(link))) != nil)
        }
        #expect(folder.files == ["files/film.mkv", "files/new.mkv", "new", "one", "two"])
    }

    /// A link stands for the device, so that the command never replaces /dev/null.
    @Test func writesIntoDeviceBehindLink() throws {
        let folder = try TemporaryFolder()
        let sink = folder.path("sink")
        try FileManager.default.createSymbolicLink(atPath: sink, withDestinationPath: "/dev/null")
        try LocalFile.requireWritable(at: sink)
        let local = try LocalFile(replacing: sink)
        try local.stream.write("gone")
        try local.commit()
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: sink) == "/dev/null" && !local.isDescriptor)
        local.discard()
        #expect(FileManager.default.fileExists(atPath: sink))
    }

    /// The text is appended to earlier output, as a shell does.
    @Test func appendsToOpenDescriptor() throws {
        let folder = try TemporaryFolder()
        let descriptor = open(folder.path("log"), O_WRONLY | O_CREAT, 0o600)
        defer { close(descriptor) }
        try OutputDescriptor(number: descriptor, name: "log").write("one ")
        try LocalFile.requireWritable(at: "/dev/fd/\(descriptor)")
        let local = try LocalFile(replacing: "/dev/fd/\(descriptor)")
        try local.stream.write("two")
        try local.commit()
        #expect(folder.bytes(of: "log") == Array("one two".utf8) && local.isDescriptor)
    }

    @Test func reportsFullDisk() throws {
        let full = try LocalFile(replacing: "/dev/full")
        let error = #expect(throws: ClientError.self) { try full.stream.write("x") }
        #expect(error?.sentence == "/dev/full cannot be written: No space left on device.")
    }

    @Test func checksRoomBeforeWriting() throws {
        let folder = try TemporaryFolder()
        try folder.write("", to: "file")
        for path in [folder.path, folder.path("new"), folder.path("file"), "."] {
            try LocalFile.requireWritable(at: path)
        }
        for path in [folder.path("none/"), folder.path("none/new"), folder.path("file/new"), folder.path("file/")] {
            let error = #expect(throws: ClientError.self, "\(path)") { try LocalFile.requireWritable(at: path) }
            #expect(error?.status == .unwritable && error?.sentence.hasPrefix("\(path) cannot be written") == true)
        }
    }

    @Test func choosesDestinationPath() throws {
        let folder = try TemporaryFolder()
        #expect(LocalFile.destination(folder.path, name: "a.iso") == folder.path("a.iso"))
        #expect(LocalFile.destination(".", name: "a.iso") == "a.iso")
        #expect(LocalFile.destination(folder.path("b.iso"), name: "a.iso") == folder.path("b.iso"))
        // A missing directory is reported when the file is created.
        #expect(LocalFile.destination("none/", name: "a.iso") == "none/a.iso")
        for name in ["../x", "..", "", "/etc/passwd"] {
            #expect(!LocalFile.destination("here/", name: name).dropFirst(5).contains("/"))
            #expect(!LocalFile.destination("here/", name: name).hasSuffix("/.."))
        }
    }
}
