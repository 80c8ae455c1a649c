import Formats
import TestKit
import Testing

/// Addresses of this machine and its network are blocked, unless `--allow-network` permits them.
@Suite struct BlockedAddressTests {
    private let bytes = Content.random(seed: 51, count: 10_000)
    private let origin: Origin

    init() throws {
        origin = try Origin()
        origin.serve("/file", .file(bytes))
    }

    private func start(
        allowing networks: String..., arguments: [String] = [], names: NameServer? = nil
    ) async throws -> FetchdProcess {
        try await FetchdProcess.start(
            .init(
                arguments: networks.flatMap { ["--allow-network", $0] } + arguments, launcher: names?.launcher ?? [],
                allowsLoopback: false))
    }

    private func outcome(of order: JSON, _ fetchd: some TestedService) async throws -> JSON {
        try await fetchd.api.waitForOutcome(fetchd.api.submit(order))
    }

    private func expectBlocked(
        _ job: JSON, at address: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(job["failure"]["code"] == "blocked_address", "\(job.written)", sourceLocation: sourceLocation)
        // A retry would find the same address.
        #expect(job["failure"]["attempts"] == 1, sourceLocation: sourceLocation)
        let message = job["failure"]["message"].string ?? ""
        // The address is not said twice.
        let isNamed = ["\(address):", "[\(address)]:"].contains { message.hasPrefix($0) }
        let fault = isNamed ? " is not at a public address." : " is at \(address), which is not a public address."
        for part in [fault, "--allow-network"] {
            #expect(message.contains(part), "\(message)", sourceLocation: sourceLocation)
        }
    }

    // MARK: Spellings of addresses

    /// The test uses every spelling; the origin gets no connection.
    @Test func blocksEverySpellingOfLoopback() async throws {
        let fetchd = try await start()
        let port = origin.port
        for (host, address) in [
            ("127.0.0.1", "127.0.0.1"), ("127.1", "127.0.0.1"), ("0x7f.1", "127.0.0.1"), ("2130706433", "127.0.0.1"),
            ("0177.0.0.1", "127.0.0.1"), ("[::ffff:127.0.0.1]", "127.0.0.1"), ("[::ffff:7f00:1]", "127.0.0.1"),
            ("[::1]", "::1"), ("0.0.0.0", "0.0.0.0"), ("[::]", "::"), ("127.255.255.254", "127.255.255.254"),
        ] {
            expectBlocked(
                try await outcome(of: ["url": .string("http://\(host):\(port)/file")], fetchd), at: address)
        }
        for host in ["localhost", "LOCALHOST", "files.localhost"] {
            let job = try await outcome(of: ["url": .string("http://\(host):\(port)/file")], fetchd)
            #expect(job["failure"]["code"] == "blocked_address", "\(host): \(job.written)")
        }
        #expect(origin.connectionCount == 0)
    }

    @Test func blocksPrivateAndLinkLocalAddresses() async throws {
        let fetchd = try await start()
        for (host, address) in [
            ("169.254.169.254", "169.254.169.254"), ("10.0.0.1", "10.0.0.1"), ("192.168.1.1", "192.168.1.1"),
            ("172.16.0.1", "172.16.0.1"), ("100.64.0.1", "100.64.0.1"), ("[fd00::1]", "fd00::1"),
            ("[fe80::1]", "fe80::1"), ("[64:ff9b::a00:1]", "64:ff9b::a00:1"), ("224.0.0.1", "224.0.0.1"),
        ] {
            expectBlocked(
                try await outcome(of: ["url": .string("http://\(host)/latest/meta-data")], fetchd), at: address)
        }
    }

    // MARK: Redirects, names and proxies

    /// Every hop is checked, not only the first.
    @Test(arguments: ["http://127.0.0.2/file", "http://169.254.169.254/latest", "http://[::1]/file"])
    func blocksRedirectToPrivateAddress(target: String) async throws {
        origin.serve("/away", .redirect(to: target))
        let fetchd = try await start(allowing: "127.0.0.1/32")
        let job = try await outcome(of: ["url": .string(origin.url("/away"))], fetchd)
        let host = target.dropFirst("http://".count).prefix { $0 != "/" }.filter { !"[]".contains($0) }
        expectBlocked(job, at: host)
        #expect(origin.requests.map(\.path) == ["/away"])
    }

    @Test(.enabled(if: NameServer.isPossible, "This machine gives ordinary users no resolver of their own."))
    func blocksNameThatResolvesToPrivateAddress() async throws {
        let names = try NameServer { name in
            .addresses(name == "mixed.test" ? ["127.0.0.2", "127.0.0.1"] : ["127.0.0.2"])
        }
        let fetchd = try await start(allowing: "127.0.0.1/32", names: names)
        let inside = try await outcome(of: ["url": .string("http://inside.test:\(origin.port)/file")], fetchd)
        expectBlocked(inside, at: "127.0.0.2")
        #expect(origin.connectionCount == 0)
        // One permitted address of a name is enough.
        let mixed = try await outcome(of: ["url": .string("http://mixed.test:\(origin.port)/file")], fetchd)
        #expect(mixed["receipt"]["remote_address"] == "127.0.0.1", "\(mixed.written)")
    }

    /// A session's proxy is checked too: otherwise it would be a way to the internal network.
    @Test(arguments: ["http", "socks5"]) func blocksProxyAtPrivateAddress(scheme: String) async throws {
        let fetchd = try await start()
        let proxy = JSON.string("\(scheme)://127.0.0.1:\(origin.port)")
        try await fetchd.api.declareSession("fixture", ["proxy": proxy])
        let job = try await outcome(of: ["url": "http://host.invalid/file", "session": "fixture"], fetchd)
        expectBlocked(job, at: "127.0.0.1")
        #expect(job["failure"]["message"].string?.hasPrefix("The session's proxy is at ") == true, "\(job.written)")
        #expect(origin.connectionCount == 0)
    }

    // MARK: Allowed networks

    @Test func downloadsFromAllowedNetwork() async throws {
        let fetchd = try await start(allowing: "10.0.0.0/8", "127.0.0.0/8")
        let job = try await outcome(of: ["url": .string("http://localhost:\(origin.port)/file")], fetchd)
        #expect(job["state"] == "succeeded", "\(job.written)")
        let blocked = try await outcome(of: ["url": "http://[::1]/file"], fetchd)
        expectBlocked(blocked, at: "::1")
    }

    @Test func downloadsFromPermittedMirror() async throws {
        let fetchd = try await start(allowing: "127.0.0.1/32")
        let job = try await outcome(of: ["urls": ["http://10.0.0.1/file", .string(origin.url("/file"))]], fetchd)
        #expect(job["state"] == "succeeded", "\(job.written)")
    }

    /// Rehearsals and webhooks need no `--allow-network`.
    @Test func permitsRehearsalsAndWebhooksWithoutAllowedNetwork() async throws {
        let receiver = try WebhookReceiver()
        let fetchd = try await start(arguments: ["--enable-rehearsals"])
        try await fetchd.api.declareWebhook(url: receiver.url, events: ["job.succeeded"])
        let job = try await outcome(of: ["url": "rehearse:film.mkv?size=1000"], fetchd)
        #expect(job["state"] == "succeeded", "\(job.written)")
        _ = try await receiver.waitFor("job.succeeded")
        // Other downloads from the loopback address remain blocked.
        let address = try #require(job["receipt"]["remote_address"].string)
        #expect(address == "127.0.0.1")
        expectBlocked(try await outcome(of: ["url": .string(origin.url("/file"))], fetchd), at: "127.0.0.1")
    }
}
