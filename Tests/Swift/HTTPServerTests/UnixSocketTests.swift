// A server on a Unix domain socket, and the file of the socket.

import Foundation
import HTTPServer
import HTTPTypes
import TestKit
import Testing

@Suite struct UnixSocketTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("socket")
    }

    private func start(mode: UInt32 = 0o600, address: String? = nil, path: String? = nil) throws -> HTTPServer {
        var options = HTTPServer.Options()
        options.threads = 2
        options.address = address
        options.unixSocket = UnixSocket(path: path ?? self.path, mode: mode)
        let handler = TestHandler { request in
            let source = "\(request.head.remoteAddress) \(request.head.isFromThisMachine)"
            return request.head.path == "/later" ? .eventually { Response(text: source) } : .now(Response(text: source))
        }
        return try HTTPServer(options: options, handler: handler)
    }

    private func text(_ target: String = "/") async throws -> String {
        try await onThread { [path] in try RawClient(path: path).exchange("GET", target).text }
    }

    private var exists: Bool { FileManager.default.fileExists(atPath: path) }

    @Test func servesAndRemovesItsFile() async throws {
        let server = try start()
        #expect(server.port == 0)
        #expect(try await text() == "unix true")
        #expect(try await text("/later") == "unix true")
        await server.stop(grace: .zero)
        #expect(!exists)
    }

    @Test func servesBesideTCP() async throws {
        let server = try start(address: "127.0.0.1")
        #expect(try await text() == "unix true")
        #expect(try await onThread { try RawClient(server.port).exchange().text } == "127.0.0.1 true")
        await server.stop(grace: .seconds(1))
        #expect(!exists)
    }

    @Test(arguments: [0o600, 0o660, 0o666] as [UInt32])
    func setsTheModeOfItsFile(_ mode: UInt32) async throws {
        let server = try start(mode: mode)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == Int(mode))
        await server.stop(grace: .zero)
    }

    @Test func refusesAPathOnWhichAProcessListens() async throws {
        let server = try start()
        #expect(throws: HTTPServerError.pathInUse(path)) { _ = try start() }
        #expect(try await text() == "unix true")
        await server.stop(grace: .zero)
    }

    /// As after a crash.
    @Test func replacesAFileOnWhichNothingListens() async throws {
        let former = try start()
        try FileManager.default.moveItem(atPath: path, toPath: folder.path("former"))
        await former.stop(grace: .zero)
        try FileManager.default.moveItem(atPath: folder.path("former"), toPath: path)
        #expect(throws: RawClient.Failure.self) { _ = try RawClient(path: path) }
        let server = try start()
        #expect(try await text() == "unix true")
        await server.stop(grace: .zero)
    }

    @Test func keepsAFileThatIsNoSocket() throws {
        try folder.write("precious", to: "socket")
        #expect(throws: HTTPServerError.pathOccupied(path)) { _ = try start() }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    }

    @Test func keepsTheFileOfAnotherServerAtTheEnd() async throws {
        let server = try start()
        try FileManager.default.removeItem(atPath: path)
        let next = try start()
        await server.stop(grace: .zero)
        #expect(try await text() == "unix true")
        await next.stop(grace: .zero)
        #expect(!exists)
    }

    @Test func refusesPathsThatAnAddressCannotHold() {
        for path in ["", "/" + String(repeating: "a", count: 107)] {
            #expect(throws: HTTPServerError.pathInvalid(path)) { _ = try start(path: path) }
        }
        #expect(throws: HTTPServerError.self) { _ = try start(path: folder.path("missing/socket")) }
    }
}
