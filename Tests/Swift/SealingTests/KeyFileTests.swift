import Foundation
import TestKit
import Testing

@testable import Sealing

@Suite struct KeyFileTests {
    private let folder: TemporaryFolder
    private var file: KeyFile { KeyFile(path: folder.path("key")) }

    init() throws { folder = try TemporaryFolder() }

    private func write(_ text: String, mode: mode_t = 0o600) throws {
        _ = try folder.write(text, to: "key")
        chmod(file.path, mode)
    }

    private func mode(of path: String) -> mode_t {
        var status = stat()
        stat(path, &status)
        return status.st_mode & 0o777
    }

    @Test func readsTheKeysThatItHasWritten() throws {
        #expect(try file.read() == nil)
        let keys = [SealingKey.random(), .random()]
        try file.write([keys[0]])
        #expect(try file.read()?.map(\.id) == [keys[0].id])
        #expect(mode(of: file.path) == 0o600)
        try file.write(keys)
        #expect(try file.read()?.map(\.id) == keys.map(\.id))
        #expect(folder.files == ["key"])
    }

    @Test func acceptsAKeyWithOrWithoutALineFeed() throws {
        let key = SealingKey.random()
        let text = String(decoding: key.base64, as: UTF8.self)
        for text in [text, text + "\n", text + "\r\n"] {
            try write(text)
            #expect(try file.read()?.map(\.id) == [key.id])
        }
    }

    @Test(arguments: ["", "\n", "secret", "AAAA\n", String(repeating: "A", count: 5000)])
    func refusesAFileWithoutAKey(_ text: String) throws {
        try write(text)
        #expect(throws: KeyError.self) { try file.read() }
    }

    /// The file can be on a disk that is not mounted yet.
    @Test func refusesALinkWithoutItsTarget() throws {
        let target = folder.path("away/key")
        try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: target)
        let error = #expect(throws: KeyError.self) { try file.read() }
        #expect(error?.description.contains("is a link, and the file that it names does not exist") == true)
        let key = SealingKey.random()
        _ = try folder.write(String(decoding: key.base64, as: UTF8.self), to: "away/key")
        chmod(target, 0o600)
        #expect(try file.read()?.map(\.id) == [key.id])
    }

    @Test func refusesAKeyBesideAnotherLine() throws {
        try write(String(decoding: SealingKey.random().base64, as: UTF8.self) + "\n# mine\n")
        #expect(throws: KeyError.self) { try file.read() }
    }

    @Test(arguments: [0o640, 0o604, 0o620, 0o601] as [mode_t])
    func refusesAFileThatOthersMayUse(_ mode: mode_t) throws {
        try write(String(decoding: SealingKey.random().base64, as: UTF8.self), mode: mode)
        let error = #expect(throws: KeyError.self) { try file.read() }
        #expect(error?.description.contains("chmod 600 \(file.path)") == true)
    }

    @Test func refusesAFolder() throws {
        #expect(throws: KeyError.self) { try KeyFile(path: folder.path).read() }
    }

    @Test func replacesTheFileOfALink() throws {
        try FileManager.default.createDirectory(atPath: folder.path("real"), withIntermediateDirectories: false)
        let real = KeyFile(path: folder.path("real/key"))
        try real.write([.random()])
        try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: real.path)
        let key = SealingKey.random()
        try file.write([key])
        #expect(try real.read()?.map(\.id) == [key.id])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: file.path) == real.path)
    }
}
