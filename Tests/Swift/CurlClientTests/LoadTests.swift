import CurlClient
import Glibc
import TestKit
import Testing

/// Many transfers, concurrently and in sequence.
@Suite struct LoadTests {
    @Test func runsTwoHundredTransfersAtOnce() async throws {
        let client = try CurlClient()
        let origin = try Origin()
        let gate = Gate()
        let files = (0..<200).map { Content.random(seed: UInt64($0), count: 1_000 + 701 * $0) }
        for (index, file) in files.enumerated() {
            origin.serve("/\(index)", .file(file), .waiting(at: 500, for: gate))
        }
        let recorders = files.map { _ in Recorder() }
        for (index, recorder) in recorders.enumerated() {
            client.start(TransferRequest(url: origin.url("/\(index)")), handler: recorder)
        }
        // No response continues after byte 500 until all have started, so all of them run at once.
        #expect(await gate.reached(by: 200))
        gate.open()
        for (recorder, file) in zip(recorders, files) {
            #expect(try await recorder.result().outcome == .completed)
            #expect(recorder.body == file)
        }
        #expect(origin.maxConcurrentRequests == 200)
    }

    @Test func acceptsTransfersFromManyThreads() async throws {
        let client = try CurlClient()
        let origin = try Origin()
        let file = Content.random(seed: 24, count: 50_000)
        origin.serve("/file", .file(file))
        let url = origin.url("/file")
        let bodies = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<100 {
                group.addTask { try await client.exchange(TransferRequest(url: url), bodyLimit: 100_000).body }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(bodies.count == 100)
        #expect(bodies.allSatisfy { $0 == file })
    }

    @Test func closesAllSocketsAfterTransfers() async throws {
        var options = CurlClient.Options()
        options.maxIdleConnections = 4
        let client = try CurlClient(options: options)
        let origin = try Origin()
        origin.serve("/good", .file([1, 2, 3]))
        origin.serve("/short", .file([1, 2, 3]), .closing(after: 1))
        origin.serve("/gone", .fixed(status: 404, body: Content.random(seed: 25, count: 300_000)))
        origin.serve("/silent", .file([1]), .silent)
        for round in 0..<125 {
            let recorders = ["/good", "/short", "/gone"].map { path in
                let recorder = Recorder { $0.status == 404 ? .reject : .accept }
                client.start(TransferRequest(url: origin.url(path)), handler: recorder)
                return recorder
            }
            let silent = Recorder()
            let transfer = client.start(TransferRequest(url: origin.url("/silent")), handler: silent)
            await origin.waitForRequests("/silent", count: round + 1)
            transfer.cancel()
            for recorder in recorders + [silent] { _ = try await recorder.result() }
        }
        _ = try await eventually("the end of the other connections") { connections(to: origin.port) <= 4 ? true : nil }
        await client.shutdown()
        #expect(connections(to: origin.port) == 0)
    }

    /// The number of sockets of this process that are connected to `port`. Other tests open descriptors at the same
    /// time.
    private func connections(to port: UInt16) -> Int {
        (0..<Int32(4096)).count { descriptor in
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) == 0 }
            }
            guard isConnected, address.sin_family == sa_family_t(AF_INET) else { return false }
            return UInt16(bigEndian: address.sin_port) == port
        }
    }
}
