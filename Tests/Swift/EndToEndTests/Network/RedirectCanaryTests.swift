import CurlClient
import Formats
import TestKit
import Testing

/// Redirects and URLs to internal addresses, in every spelling that the API takes: a listener gets no connection.
@Suite struct RedirectCanaryTests {
    /// 127.0.0.2, which is not allowed, and other addresses of this machine and of its networks.
    private static let hosts = [
        "127.0.0.2", "127.0.0.2.", "127.2", "127.0.2", "2130706434", "0x7f000002", "0X7F.0x0.0.2", "0177.0.0.2",
        "017700000002",
        "0x7f.2", "00000177.0.0.02", "%31%32%37.0.0.2", "127%2e0%2e0%2e2", "[::ffff:127.0.0.2]", "[::ffff:7f00:2]",
        "[0:0:0:0:0:ffff:7f00:2]", "[::127.0.0.2]", "[64:ff9b::127.0.0.2]", "[64:ff9b::7f00:2]",
        "[64:ff9b:1::127.0.0.2]",
        "[2002:7f00:2::1]", "[2001:0:7f00:2::1]", "[2001:0:808:808::80ff:fffd]", "[::1]", "[0:0:0:0:0:0:0:1]",
        "[::1%25lo]",
        "[::]", "0.0.0.0", "0", "0x0", "0.0", "127.255.255.254", "127.1.2.3",
        "\u{FF11}\u{FF12}\u{FF17}.0.0.2", "127\u{3002}0\u{3002}0\u{3002}2", "127\u{FF0E}0\u{FF0E}0\u{FF0E}2",
        "\u{2460}\u{2461}\u{2466}.0.0.2", "\u{FF10}x7f.2", "%EF%BC%91%EF%BC%92%EF%BC%97.0.0.2", "user@127.0.0.2",
        "127.0.0.1@127.0.0.2", "127.0.0.1:80@127.0.0.2", "10.0.0.1", "0xa.1", "172.16.0.1", "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254", "0xa9fea9fe", "2852039166", "[fe80::1]", "[fe80::1%25lo]", "[fd00:ec2::254]", "[fec0::1]",
        "[ff02::1]",
        "100.64.0.1", "198.18.0.1", "192.0.0.1", "192.0.2.1", "192.88.99.1", "198.51.100.1", "203.0.113.1", "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255", "168.63.129.16", "[100::1]", "[2001:db8::1]", "[3fff::1]", "[5f00::1]", "[2002:a00:1::1]",
        "[64:ff9b::a9fe:a9fe]", "[::ffff:169.254.169.254]", "[::ffff:0:0]", "[::ffff:0:127.0.0.2]",
    ]

    private func service() async throws -> LocalService {
        try await LocalService.start(.init { $0.start.values.allowedNetworks = [Network("127.0.0.1")!] })
    }

    /// A text that is neither an address nor a URL can be a name that does not exist.
    private static let refusals = ["blocked_address", "bad_url", "name_resolution_failed"]

    private func order(_ url: String) -> JSON { ["url": .string(url), "retry": ["max_attempts": 1]] }

    @Test func reachesNothingByURL() async throws {
        let (service, canary) = (try await service(), try Canary())
        var blocked = 0
        for host in Self.hosts {
            let answer = try await service.api.post("/v1/jobs", order("http://\(host):\(canary.port)/file"))
            guard answer.status == 201, let id = answer.json["id"].string else {
                #expect(answer.status == 422, "\(host): \(answer.json.written)")
                continue
            }
            let job = try await service.api.waitForOutcome(id)
            #expect(Self.refusals.contains(job["failure"]["code"].string ?? ""), "\(host): \(job.written)")
            blocked += job["failure"]["code"] == "blocked_address" ? 1 : 0
        }
        #expect(blocked > Self.hosts.count * 8 / 10)
        #expect(try canary.connections() == 0)
    }

    @Test func reachesNothingByRedirect() async throws {
        let (service, canary, origin) = (try await service(), try Canary(), try Origin())
        for (index, host) in Self.hosts.enumerated() {
            origin.serve("/\(index)", .redirect(to: "http://\(host):\(canary.port)/file"))
        }
        // A reference without a scheme, and hops in between.
        origin.serve("/relative", .redirect(to: "//127.0.0.2:\(canary.port)/file"))
        origin.serve("/hop", .redirect(to: "/relative"))
        var blocked = 0
        let paths = Self.hosts.indices.map { "/\($0)" } + ["/relative", "/hop"]
        for path in paths {
            let job = try await service.api.waitForOutcome(service.api.submit(order(origin.url(path))))
            #expect(Self.refusals.contains(job["failure"]["code"].string ?? ""), "\(path): \(job.written)")
            blocked += job["failure"]["code"] == "blocked_address" ? 1 : 0
        }
        #expect(blocked > paths.count * 8 / 10)
        #expect(try canary.connections() == 0)
    }
}
