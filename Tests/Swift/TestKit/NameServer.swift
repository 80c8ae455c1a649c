import Foundation

/// A name server (RFC 1035) on loopback that answers as configured, late, or not at all. Services that are started with
/// `launcher` use it through the system's resolver.
public final class NameServer: Sendable {
    public enum Answer: Sendable {
        /// IPv4 addresses, in this order; it has no IPv6 addresses.
        case addresses([String])
        /// NXDOMAIN after the given time.
        case unknown(after: Duration)
        case never
    }

    private let listener: NameListener
    private let folder: TemporaryFolder

    /// - Parameter answers: the answer for each name, in lower case.
    public init(_ answers: @escaping @Sendable (String) -> Answer) throws {
        listener = try NameListener(answers)
        folder = try TemporaryFolder()
        // The longest times that the resolver takes: it gives up after 150 s, longer than any test waits for an answer.
        try folder.write("nameserver \(listener.address)\noptions timeout:30 attempts:5\n", to: "resolv.conf")
        try folder.write("hosts: files dns\n", to: "nsswitch.conf")
    }

    deinit { listener.stop() }

    /// The queried names, once per query of either type.
    public var asked: [String] { listener.asked.current }

    @discardableResult
    public func waitForQuestions(_ count: Int, atMost timeout: Duration = .patience) async -> Bool {
        await listener.asked.wait(atMost: timeout) { $0.count >= count }
    }
}

/// The system's resolver.
extension NameServer {
    /// Runs a program whose names are resolved here. The user namespace grants the right to mount; the parent-death
    /// signal has to be set again inside it.
    public var launcher: [String] {
        [
            "unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
            """
            for file in resolv.conf nsswitch.conf; do mount --bind "$0/$file" "/etc/$file" || exit 1; done
            exec setpriv --pdeathsig KILL -- "$@"
            """, folder.path,
        ]
    }

    /// Whether this machine lets the tests use the DNS port and their own view of /etc.
    public static let isPossible: Bool = {
        guard let server = try? NameServer({ _ in .never }) else { return false }
        return SpawnedProgram.succeeds(server.launcher + ["true"])
    }()
}
