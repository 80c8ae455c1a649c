import ArgumentParser
import Formats

/// The options of `fetchd serve` that say where it listens, and to whom.
struct ListeningOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The address and port of the API. Port 0: the system chooses a free port. none: no port, only a Unix domain socket. (default: \(Settings.Defaults.listen))",
            valueName: "host:port"))
    var listen: String?

    @Option(
        help: ArgumentHelp(
            "A Unix domain socket on which the API is served, too. The file is removed at the end. (default: none)",
            valueName: "path"))
    var unixSocket: String?

    @Option(
        help: ArgumentHelp(
            "The permissions of the Unix domain socket, in octal. Who may write to it may use the API. (default: \(Settings.Defaults.unixSocketMode))",
            valueName: "mode"))
    var unixSocketMode: String?

    @Option(
        help: ArgumentHelp(
            "The maximum number of clients that are connected at the same time, 16 to 20000. Others wait. (default: 20000, or fewer if the limit on file descriptors requires it)",
            valueName: "n"))
    var maxConnections: Int?

    @Option(
        help: ArgumentHelp(
            "The maximum number of connections from one IPv4 address or IPv6 /64 network, except loopback; 0: no limit. Further connections are closed. (default: half of --max-connections)",
            valueName: "n"))
    var maxConnectionsPerAddress: Int?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A host name that clients use for this service (in the Host header), in addition to localhost and IP addresses; repeatable. (default: none)",
            valueName: "name"))
    var publicHost: [String] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A network of reverse proxies, such as 10.0.0.0/8, whose X-Forwarded-For says for whom they send a request; unix for those on the Unix domain socket; repeatable. The audit log and the log then name the client. See docs/reverse-proxies.md. (default: none)",
            valueName: "cidr"))
    var trustedProxy: [String] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "An origin, such as http://localhost:9000, whose web pages may use the API from a browser (CORS); repeatable. * allows any origin and requires a token. See docs/web.md. (default: none)",
            valueName: "origin"))
    var allowOrigin: [String] = []

    /// Only the options that were given.
    var flags: [Settings.Key: JSON] {
        let flags: [Settings.Key: JSON?] = [
            .listen: listen.map(JSON.string),
            .unixSocket: unixSocket.map(JSON.string),
            .unixSocketMode: unixSocketMode.map(JSON.string),
            .maxConnections: maxConnections.map(JSON.count),
            .maxConnectionsPerAddress: maxConnectionsPerAddress.map(JSON.count),
            .publicHost: publicHost.isEmpty ? nil : .strings(publicHost),
            .trustedProxy: trustedProxy.isEmpty ? nil : .strings(trustedProxy),
            .allowOrigin: allowOrigin.isEmpty ? nil : .strings(allowOrigin),
        ]
        return flags.compactMapValues(\.self)
    }
}
