import CurlClient
import Formats
import TestKit
import Testing

/// Name lookups: which names, how often, and their effect on other transfers.
@Suite struct NameTests {
    let origin: Origin
    /// Lookups of the test double wait here.
    let gate = Gate()

    init() throws {
        origin = try Origin()
        origin.serve("/file", .file([1, 2, 3]))
    }

    /// A client that resolves names with a test double.
    private func client(_ names: NameBook, limit: Int = 1000) throws -> CurlClient {
        var options = CurlClient.Options()
        options.findsAddresses = { names.find($0) }
        options.maxLookups = limit
        return try CurlClient(options: options)
    }

    private func request(_ host: String, connect: Duration = .seconds(30)) -> TransferRequest {
        TransferRequest(url: "http://\(host):\(origin.port)/file", timeouts: .init(connect: connect))
    }

    // MARK: Spelling

    /// All spellings are one name. libcurl itself looks up nothing, because only the test double knows the name.
    @Test(arguments: [
        ("files.test", "files.test"), ("FILES.Test", "files.test"), ("f%69les.test", "files.test"),
        ("files.test.", "files.test."), ("XN--bcher-kva.test", "xn--bcher-kva.test"),
        ("under_score.test", "under_score.test"),
    ])
    func looksUpTheNormalizedName(host: String, name: String) async throws {
        let names = NameBook([name: ["127.0.0.1"]])
        let (result, _) = try await client(names).run(request(host))
        #expect(result.outcome == .completed)
        #expect(names.asked == [name])
    }

    @Test(arguments: ["127.0.0.1", "0x7f.1", "2130706433", "localhost", "LocalHost", "files.localhost"])
    func addressesAndLocalhostNeedNoLookup(host: String) async throws {
        let names = NameBook([:])
        let (result, _) = try await client(names).run(request(host))
        #expect(result.outcome == .completed)
        #expect(names.asked.isEmpty)
    }

    @Test func looksUpOnlyTheNameOfTheProxy() async throws {
        let names = NameBook(["proxy.test": ["127.0.0.1"]])
        var request = TransferRequest(url: "http://files.test/file")
        request.proxy = .init(scheme: .http, host: "Proxy.test", port: Int(origin.port))
        let (result, _) = try await client(names).run(request)
        #expect(result.outcome == .completed)
        #expect(names.asked == ["proxy.test"])
        #expect(origin.requests.map(\.target) == ["http://files.test/file"])
    }

    @Test func errorNamesTheProxyThatCannotBeResolved() async throws {
        let names = NameBook([:])
        var request = TransferRequest(url: "http://files.test/file")
        request.proxy = .init(scheme: .socks5, host: "proxy.test", port: 1080)
        let (result, _) = try await client(names).run(request)
        #expect(result.error == .connectFailed("the name of the proxy proxy.test:1080 could not be resolved"))
    }

    // MARK: What was found

    @Test func unknownNameFailsTheTransfer() async throws {
        let (result, _) = try await client(NameBook([:])).run(request("nobody.test"))
        #expect(result.error == .nameResolutionFailed)
        #expect(result.metrics.remoteAddress == nil)
    }

    /// IPv6, and further addresses: the first one has no listener.
    @Test func triesAllAddresses() async throws {
        let names = NameBook(["files.test": ["::1", "127.0.0.2", "127.0.0.1"]])
        let (result, _) = try await client(names).run(request("files.test"))
        #expect(result.outcome == .completed)
        #expect(result.metrics.remoteAddress == "127.0.0.1")
    }

    @Test func reusesCachedAddressesForEveryPort() async throws {
        let other = try Origin()
        other.serve("/file", .file([4]))
        let names = NameBook(["files.test": ["127.0.0.1"]])
        let client = try client(names)
        for port in [origin.port, other.port, origin.port] {
            let (result, _) = try await client.run("http://files.test:\(port)/file")
            #expect(result.outcome == .completed)
        }
        #expect(names.asked == ["files.test"])
    }

    @Test func metricsContainTheLookupTime() async throws {
        let names = NameBook(["files.test": ["127.0.0.1"]], heldAt: gate)
        let (client, recorder) = (try client(names), Recorder())
        client.start(request("files.test"), handler: recorder)
        #expect(await gate.reached())
        let start = ContinuousClock.now
        // A lookup that takes some time.
        let (passing, _) = try await client.run(origin.url("/file"))
        #expect(passing.outcome == .completed)
        let held = ContinuousClock.now - start
        gate.open()
        let metrics = try await recorder.result().metrics
        let lookup = try #require(metrics.nameLookup)
        #expect(lookup >= held)
        #expect(try #require(metrics.timeToFirstByte) > lookup)
        #expect(try #require(metrics.total) > lookup)
    }

    // MARK: Slow resolvers

    /// Five hundred lookups that do not end delay neither another transfer nor the loop.
    @Test func slowLookupsDoNotBlockOtherTransfers() async throws {
        let names = NameBook(["quick.test": ["127.0.0.1"]], heldAt: gate, but: "quick.test")
        let client = try client(names)
        let stuck = (0..<500).map { _ in Recorder() }
        let transfers = stuck.enumerated().map { client.start(request("slow-\($0).test"), handler: $1) }
        #expect(await gate.reached(by: 500))
        for _ in 0..<20 {
            let (result, _) = try await client.run(request("quick.test"))
            #expect(result.outcome == .completed)
        }
        for transfer in transfers.prefix(250) { transfer.cancel() }
        for recorder in stuck.prefix(250) { #expect(try await recorder.result().outcome == .cancelled) }
        #expect(client.loopMetrics.lookupsRunning == 500)
        await client.shutdown()
        for recorder in stuck.dropFirst(250) { #expect(try await recorder.result().outcome == .cancelled) }
        // A pause of the whole machine counts, too.
        #expect(client.loopMetrics.lag < .seconds(10))
        gate.open()
    }

    @Test func looksUpANameOnceForConcurrentTransfers() async throws {
        let names = NameBook(["files.test": ["127.0.0.1"]], heldAt: gate)
        let client = try client(names)
        let recorders = (0..<100).map { _ in Recorder() }
        for recorder in recorders { client.start(request("files.test"), handler: recorder) }
        // A transfer without a name completes, so the loop has processed all earlier ones.
        let (passing, _) = try await client.run(origin.url("/file"))
        #expect(passing.outcome == .completed)
        gate.open()
        for recorder in recorders { #expect(try await recorder.result().outcome == .completed) }
        #expect(names.asked == ["files.test"])
    }

    /// The lookup of a transfer that gave up serves the next one.
    @Test func abandonedLookupServesTheNextTransfer() async throws {
        let names = NameBook(["files.test": ["127.0.0.1"]], heldAt: gate)
        let client = try client(names)
        for _ in 0..<3 {
            let (result, _) = try await client.run(request("files.test", connect: .milliseconds(20)))
            #expect(result.error == .timedOut(.lookup))
        }
        let last = Recorder()
        client.start(request("files.test"), handler: last)
        gate.open()
        #expect(try await last.result().outcome == .completed)
        #expect(names.asked == ["files.test"])
    }

    @Test func lookupTimeCountsAgainstTheConnectTimeout() async throws {
        let port = try UnresponsivePort()
        let names = NameBook(["files.test": ["127.0.0.1"]], heldAt: gate)
        let client = try client(names)
        let (recorder, timeout) = (Recorder(), Duration.seconds(6))
        let start = ContinuousClock.now
        client.start(
            TransferRequest(url: "http://files.test:\(port.number)/", timeouts: .init(connect: timeout)),
            handler: recorder)
        // This test measures time.
        try await Task.sleep(until: start + timeout / 2, clock: .continuous)
        let opened = ContinuousClock.now
        gate.open()
        let error = try await recorder.result().error
        // With the whole timeout for the connection alone, it would end later.
        #expect(ContinuousClock.now - opened < timeout)
        // On a busy machine, the sleep can take so long that the lookup takes all of the time.
        let isLookupLong = opened - start > timeout * 2 / 3
        #expect(error == .timedOut(.connect) || isLookupLong && error == .timedOut(.lookup))
    }

    @Test func lookupsBeyondTheLimitAreQueued() async throws {
        let names = NameBook((0..<20).reduce(into: [:]) { $0["\($1).test"] = ["127.0.0.1"] }, heldAt: gate)
        let client = try client(names, limit: 3)
        let recorders = (0..<20).map { _ in Recorder() }
        for (index, recorder) in recorders.enumerated() { client.start(request("\(index).test"), handler: recorder) }
        let (passing, _) = try await client.run(origin.url("/file"))
        #expect(passing.outcome == .completed)
        #expect(client.loopMetrics.lookupsRunning == 3)
        #expect(client.loopMetrics.lookupsQueued == 17)
        gate.open()
        for recorder in recorders { #expect(try await recorder.result().outcome == .completed) }
        #expect(names.mostAtOnce <= 3)
        #expect(names.asked.count == 20)
    }
}

/// A resolver that knows a few names, records its calls, and can be made to wait.
private final class NameBook: Sendable {
    private struct State: Sendable {
        var asked: [String] = []
        var underWay = 0
        var mostAtOnce = 0
    }

    private let addresses: [String: [String]]
    private let gate: Gate?
    /// The name that does not wait.
    private let exception: String?
    private let state = Monitor(State())

    init(_ addresses: [String: [String]], heldAt gate: Gate? = nil, but exception: String? = nil) {
        self.addresses = addresses
        self.gate = gate
        self.exception = exception
    }

    /// The names of all calls, in order.
    var asked: [String] { state.current.asked }
    var mostAtOnce: Int { state.current.mostAtOnce }

    func find(_ name: String) -> [IPAddress] {
        state.withLock { state in
            state.asked.append(name)
            state.underWay += 1
            state.mostAtOnce = max(state.mostAtOnce, state.underWay)
        }
        if name != exception { gate?.pass() }
        state.withLock { $0.underWay -= 1 }
        return (addresses[name] ?? []).compactMap { IPAddress($0) }
    }
}
