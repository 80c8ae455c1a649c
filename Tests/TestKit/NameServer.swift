import Foundation

/// A name server (RFC 1035) on loopback that answers as told, or late, or not at all: for services that are started with
/// `launcher`, so that the system's own resolver asks it.
public final class NameServer: Sendable {
    public enum Answer: Sendable {
        /// IPv4, in that order; asked for IPv6 addresses, it has none.
        case addresses([String])
        /// That there is no such name, so much later.
        case unknown(after: Duration)
        case never
    }

    private let listener: NameListener
    private let folder: TemporaryFolder

    /// - Parameter answers: for each name, in lower case.
    public init(_ answers: @escaping @Sendable (String) -> Answer) throws {
        listener = try NameListener(answers)
        folder = try TemporaryFolder()
        // No second try: a question is asked once, and waited for longer than any test takes.
        try folder.write("nameserver \(listener.address)\noptions timeout:30 attempts:1\n", to: "resolv.conf")
        try folder.write("hosts: files dns\n", to: "nsswitch.conf")
    }

    deinit { listener.stop() }

    /// The names it was asked for, each as often as it was, whichever kind of address was wanted.
    public var asked: [String] { listener.asked.current }

    @discardableResult
    public func waitForQuestions(_ count: Int, atMost timeout: Duration = .seconds(30)) async -> Bool {
        await listener.asked.wait(atMost: timeout) { $0.count >= count }
    }
}

/// The system's resolver.
extension NameServer {
    /// Runs a program whose names are looked up here. A user namespace of its own takes the right to mount; the promise
    /// to end with the tests has to be made anew in it.
    public var launcher: [String] {
        [
            "unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
            """
            for file in resolv.conf nsswitch.conf; do mount --bind "$0/$file" "/etc/$file" || exit 1; done
            exec setpriv --pdeathsig KILL -- "$@"
            """, folder.path,
        ]
    }

    /// Whether this machine lets the tests have the port of name servers, and a view of /etc of their own.
    public static let isPossible: Bool = {
        guard let server = try? NameServer({ _ in .never }) else { return false }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = server.launcher + ["true"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()
}
