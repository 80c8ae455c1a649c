import API
import CurlClient
import Daemon
import TestKit
import Testing

/// Each file of another node that is passed on needs a second socket, so their number is limited.
@Suite struct RelayedFileLimitTests {
    @Test func refusesMoreFilesThanTheLimit() async throws {
        let (origin, gate) = (try Origin(), Gate())
        origin.serve("/held", .file(Content.random(seed: 1, count: 200_000)), .waiting(at: 100_000, for: gate))
        let relay = CurlFileRelay(try CurlClient(), limit: 1)
        let file = { @Sendable in try await relay.response(to: .get, url: origin.url("/held"), headers: []) }
        #expect(try await file().status == .ok)
        await #expect(throws: FileRelayError.self) { _ = try await file() }
        gate.open()
        let second = try await eventually("the end of the first file") { try? await file() }
        #expect(second.status == .ok)
    }
}
