import CurlClient
import TestKit
import Testing

/// Each cause of a failure has its own error.
@Suite struct FailureTests {
    let client: CurlClient
    let origin: Origin

    init() throws {
        client = try CurlClient()
        origin = try Origin()
    }

    private func run(
        _ path: String, _ timeouts: TransferRequest.Timeouts = .init()
    ) async throws -> (TransferResult, Recorder) {
        try await client.run(TransferRequest(url: origin.url(path), timeouts: timeouts))
    }

    @Test func refusedConnectionIsConnectFailed() async throws {
        let port = origin.port
        origin.stop()
        let (result, _) = try await client.run("http://127.0.0.1:\(port)/")
        guard case .connectFailed = result.error else {
            Issue.record("\(result.outcome)")
            return
        }
    }

    @Test(.enabled(if: NginxOrigin.isAvailable)) func serverWithoutTLSIsNamed() async throws {
        let server = try await NginxOrigin()
        let (result, _) = try await client.run("https://127.0.0.1:\(server.port)/")
        #expect(
            result.error == .tlsFailed("it did not answer with TLS; a server without TLS has an http:// address"))
    }

    /// nginx on a port with HTTP/2 but without TLS.
    @Test(.enabled(if: NginxOrigin.isAvailable)) func serverWithHTTP2OnlyIsNamed() async throws {
        let server = try await NginxOrigin(.init(isHTTP2: true))
        let (result, _) = try await client.run("http://127.0.0.1:\(server.port)/")
        #expect(
            result.error
                == .protocolError(
                    "the answer does not begin as HTTP/1.1. Perhaps the server has only HTTP/2, which fetchd does not use"
                ))
    }

    /// `openssl s_server`, which refuses other protocols as servers with HTTP/2 only do.
    @Test(.enabled(if: TLSOrigin.isAvailable)) func refusalOfHTTP1InTheHandshakeIsNamed() async throws {
        let (folder, port) = (try TemporaryFolder(), try ReservedPort())
        let made = try await ChildProcess.run(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
                "/CN=localhost", "-keyout", folder.path("key"), "-out", folder.path("certificate"),
            ])
        #expect(made.succeeded)
        let server = try await ChildProcess(
            "/usr/bin/openssl",
            [
                "s_server", "-www", "-accept", port.address, "-alpn", "h2", "-key", folder.path("key"), "-cert",
                folder.path("certificate"),
            ])
        _ = try await eventually("the server to listen") { server.output.contains("ACCEPT") ? true : nil }
        let (result, _) = try await client.run("https://\(port.address)/")
        #expect(
            result.error
                == .tlsFailed(
                    "the server refuses HTTP/1.1. Perhaps the server has only HTTP/2, which fetchd does not use"))
    }

    @Test func connectTimeoutIsTimedOut() async throws {
        let port = try UnresponsivePort()
        let request = TransferRequest(
            url: "http://127.0.0.1:\(port.number)/", timeouts: .init(connect: .milliseconds(100)))
        let (result, _) = try await client.run(request)
        #expect(result.error == .timedOut(.connect))
    }

    @Test func unknownNameIsNameResolutionFailed() async throws {
        // A label of 64 characters is invalid, so the resolver sends no query.
        let (result, _) = try await client.run("http://\(String(repeating: "a", count: 64)).invalid/")
        #expect(result.error == .nameResolutionFailed)
    }

    @Test func bodyShorterThanContentLengthIsTruncated() async throws {
        origin.serve("/file", .file(Content.random(seed: 17, count: 1_000)), .closing(after: 400))
        let (result, recorder) = try await run("/file")
        #expect(result.error == .truncated(expected: 1_000, received: 400))
        #expect(recorder.body.count == 400)
    }

    @Test func unfinishedChunkedBodyIsTruncated() async throws {
        origin.serve("/file", .file(Content.random(seed: 17, count: 1_000)), .chunked(), .closing(after: 400))
        let (result, _) = try await run("/file")
        #expect(result.error == .truncated(expected: nil, received: 400))
        #expect(result.metrics.bodyEndKnown)
    }

    @Test func invalidChunkHeaderIsAProtocolError() async throws {
        origin.serve(
            "/file", .file(Array("what follows is no chunk\r\n".utf8)), .header("Transfer-Encoding", "chunked"),
            .unframed)
        let (result, _) = try await run("/file")
        guard case .protocolError = result.error else {
            Issue.record("\(result.outcome)")
            return
        }
    }

    @Test func resetConnectionIsConnectionLost() async throws {
        origin.serve("/file", .file(Content.random(seed: 18, count: 1_000)), .resetting(after: 400))
        let (result, _) = try await run("/file")
        guard case .connectionLost = result.error else {
            Issue.record("\(result.outcome)")
            return
        }
    }

    @Test func closedConnectionIsConnectionLost() async throws {
        origin.serve("/file", .file([1]), .hangingUp)
        let (result, _) = try await run("/file")
        guard case .connectionLost = result.error else {
            Issue.record("\(result.outcome)")
            return
        }
    }

    @Test func responseThatIsNotHTTPIsAProtocolError() async throws {
        origin.serve("/file", .file([1]), .garbage())
        let (result, recorder) = try await run("/file")
        guard case .protocolError = result.error else {
            Issue.record("\(result.outcome)")
            return
        }
        #expect(recorder.head == nil)
    }

    @Test func differentContentLengthsAreAProtocolError() async throws {
        origin.serve("/file", .file([1, 2, 3]), .header("content-length", "2"))
        let (result, recorder) = try await run("/file")
        #expect(result.error == .protocolError("two lengths that differ"))
        #expect(recorder.body.isEmpty)
    }

    @Test func idleTimeoutAppliesBeforeTheHead() async throws {
        origin.serve("/file", .file([1]), .silent)
        let (result, _) = try await run("/file", .init(idle: .milliseconds(100)))
        #expect(result.error == .timedOut(.idle))
        #expect(await origin.waitForSilence())
    }

    @Test func idleTimeoutAppliesInTheBody() async throws {
        origin.serve("/file", .file(Content.random(seed: 19, count: 1_000)), .stalling(after: 400))
        // Long enough for the origin to send its bytes, even on a busy machine.
        let (result, recorder) = try await run("/file", .init(idle: .seconds(3)))
        #expect(result.error == .timedOut(.idle))
        #expect(recorder.body.count == 400)
    }

    @Test func slowBodyDoesNotReachTheIdleTimeout() async throws {
        // The response takes longer than the timeout. Its pauses are an eightieth of that, so that a busy machine may
        // prolong them.
        origin.serve("/file", .file(Content.random(seed: 20, count: 5_000)), .limited(bytesPerSecond: 1_000))
        let (result, _) = try await run("/file", .init(idle: .seconds(4)))
        #expect(result.outcome == .completed)
    }

    @Test func totalTimeoutAppliesToASlowBody() async throws {
        origin.serve("/file", .file(Content.random(seed: 20, count: 100_000)), .limited(bytesPerSecond: 1_000))
        let (result, _) = try await run("/file", .init(idle: .seconds(30), total: .milliseconds(1_200)))
        #expect(result.error == .timedOut(.total))
    }

    @Test func pausedTransferDoesNotReachTheIdleTimeout() async throws {
        let bytes = Content.random(seed: 21, count: 5_000_000)
        origin.serve("/file", .file(bytes))
        origin.serve("/silent", .file([1]), .silent)
        let recorder = Recorder(holdingChunks: true)
        // Longer than the delays of a busy machine.
        let timeouts = TransferRequest.Timeouts(idle: .seconds(4))
        client.start(TransferRequest(url: origin.url("/file"), timeouts: timeouts), handler: recorder)
        #expect(await recorder.received(atLeast: almostAWindow))
        // A second transfer with the same timeout starts later and fails. The paused one does not.
        let (silent, _) = try await run("/silent", timeouts)
        #expect(silent.error == .timedOut(.idle))
        #expect(recorder.state.current.results.isEmpty)
        recorder.releaseChunks()
        #expect(try await recorder.result().outcome == .completed)
        #expect(recorder.body == bytes)
    }

    @Test func plainServerForHTTPSIsTLSFailed() async throws {
        let (result, _) = try await client.run("https://127.0.0.1:\(origin.port)/")
        guard case .tlsFailed = result.error else {
            Issue.record("\(result.outcome)")
            return
        }
    }

    @Test(.enabled(if: TLSOrigin.isAvailable)) func untrustedCertificateIsTLSFailed() async throws {
        let server = try await TLSOrigin()
        let (result, _) = try await client.run(server.url("/"))
        guard case .tlsFailed = result.error else {
            Issue.record("\(result.outcome)")
            return
        }
    }

    @Test func connectionClosedDuringTheHandshakeIsConnectionLost() async throws {
        let port = try HangUpPort()
        let (result, _) = try await client.run("https://127.0.0.1:\(port.number)/")
        guard case .connectionLost = result.error else {
            Issue.record("\(result.outcome)")
            return
        }
    }
}
