// Addresses, ports and limits on connections.

import Base
import Glibc
import HTTPServer
import HTTPTypes
import Testing

@Suite struct ListeningTests {
    private static func start(_ configure: (inout HTTPServer.Options) -> Void) throws -> HTTPServer {
        var options = HTTPServer.Options()
        configure(&options)
        return try HTTPServer(options: options, handler: TestHandler.echo)
    }

    @Test func reportsThatThePortIsInUse() async throws {
        let server = try Self.start { _ in }
        let expected = HTTPServerError.addressInUse(address: "127.0.0.1", port: server.port)
        #expect(throws: expected) { _ = try Self.start { $0.port = server.port } }
        #expect(expected.description == "127.0.0.1 port \(server.port) is in use by another process")
        await server.stop(grace: .zero)
        // After a short time, because a server of another test may have the port.
        try await onThread { expectSoon { (try? Self.start { $0.port = server.port }) != nil } }
    }

    @Test func refusesInvalidAddresses() {
        #expect(throws: HTTPServerError.addressInvalid("localhost")) { _ = try Self.start { $0.address = "localhost" } }
        #expect(throws: HTTPServerError.addressInvalid("")) { _ = try Self.start { $0.address = "" } }
        #expect(throws: HTTPServerError.addressUnavailable(address: "192.0.2.1")) {
            _ = try Self.start { $0.address = "192.0.2.1" }
        }
    }

    @Test func refusesOptionsOutOfRange() {
        let changes: [@Sendable (inout HTTPServer.Options) -> Void] = [
            { $0.threads = 0 }, { $0.threads = 65 }, { $0.connectionLimit = 0 }, { $0.connectionsPerAddress = -1 },
            { $0.idleTimeout = .milliseconds(999) }, { $0.headDeadline = .zero }, { $0.maxBodyBytes = -1 },
            { $0.bodyDeadline = .zero }, { $0.bodyGrace = .zero }, { $0.bodyBytesPerSecond = 0 },
            { $0.responseWindow = .zero }, { $0.responseBytesPerSecond = -1 }, { $0.maxFields = 0 },
            { $0.address = nil },
            { $0.maxHeadBytes = 1_023 }, { $0.waitLimit = .zero },
        ]
        for change in changes { #expect(throws: HTTPServerError.self) { _ = try Self.start(change) } }
    }

    @Test(arguments: ["::1", "::"])
    func listensOnIPv6(_ address: String) async throws {
        let handler = TestHandler { .now(Response(text: $0.head.remoteAddress)) }
        try await withServer(handler, configure: { $0.address = address }) { port in
            let response = try RawClient(port, ipv6: true).exchange()
            #expect(response.text == "::1")
            if address == "::" { #expect(try RawClient(port).exchange().text == "127.0.0.1") }
        }
    }

    @Test(arguments: [1, 2, 5])
    func servesWithAnyNumberOfThreads(_ threads: Int) async throws {
        try await withServer(.echo, configure: { $0.threads = threads }) { port in
            let clients = try (0..<20).map { _ in try RawClient(port) }
            for client in clients { #expect(try client.exchange().status == 200) }
        }
    }

    @Test func closesConnectionsBeyondTheLimitPerAddress() async throws {
        try await withServer(.echo, configure: { ($0.connectionsPerAddress, $0.limitsLoopback) = (3, true) }) { port in
            let clients = try (0..<3).map { _ in try RawClient(port) }
            for client in clients { #expect(try client.exchange().status == 200) }
            #expect(throws: RawClient.Failure.self) { try RawClient(port).exchange() }
            #expect(try clients[0].exchange(fields: ["Connection: close"]).status == 200)
            expectSoon { (try? RawClient(port).exchange().status) == 200 }
        }
    }

    @Test func clientsBeyondTheConnectionLimitWait() async throws {
        try await withServer(.echo, configure: { ($0.threads, $0.connectionLimit) = (1, 2) }) { port in
            let first = try RawClient(port)
            let second = try RawClient(port)
            #expect(try first.exchange().status == 200)
            #expect(try second.exchange().status == 200)
            let third = try RawClient(port)
            try third.send(RawClient.request())
            #expect(try first.exchange(fields: ["Connection: close"]).status == 200)
            #expect(try third.readResponse().status == 200)
        }
    }

    /// Counts only the sockets and the file of its own server, because other tests also open descriptors.
    @Test func leaksNoDescriptors() async throws {
        let file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
        let region = FileRegion(of: Descriptor(owning: file), length: 1_000)
        let handler = TestHandler { request in
            switch request.head.path {
            case "/file": .now(Response(status: .ok, body: .file(region)))
            case "/later": .eventually { Response(text: "later") }
            default: .now(Response(text: "now"))
            }
        }
        let port = try await withServer(handler) { port in
            for number in 0..<2_000 {
                let client = try RawClient(port)
                if number % 4 != 0 { try client.send(RawClient.request("GET", ["/", "/file", "/later"][number % 3])) }
                if number % 2 == 0 { client.resetOnClose() } else { _ = try client.readResponse() }
            }
            expectSoon { Self.openDescriptors(port) < 100 }
            return port
        }
        try await onThread { expectSoon { Self.openDescriptors(port) < 10 } }
    }

    /// The descriptors of sockets with this local port, and of the program's file.
    private static func openDescriptors(_ port: UInt16) -> Int {
        (0..<Int32(16_384)).count { isSocket($0, at: port) || isProgram($0) }
    }

    private static func isSocket(_ descriptor: Int32, at port: UInt16) -> Bool {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isNamed = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
        }
        return isNamed && address.sin_family == sa_family_t(AF_INET) && UInt16(bigEndian: address.sin_port) == port
    }

    private static func isProgram(_ descriptor: Int32) -> Bool {
        var (found, program) = (stat(), stat())
        return fstat(descriptor, &found) == 0 && stat("/proc/self/exe", &program) == 0
            && found.st_dev == program.st_dev && found.st_ino == program.st_ino
    }
}
