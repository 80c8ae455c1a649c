import ArgumentParser
import Formats
import Foundation

/// The address and the token. A flag takes precedence over the environment, the environment over
/// `~/.config/fetchd/config.json`, and the file over the defaults.
struct ClientSettings: Sendable {
    let address: ServiceAddress
    let token: String?
    /// A PEM file of certificates to trust instead of the system's.
    let caFile: String?
    let warnings: [String]

    struct Flags: Sendable {
        var url: String?
        var token: String?
        var tokenFile: String?
        var caFile: String?

        /// The flags give both address and token.
        fileprivate var sayAll: Bool { url != nil && (token != nil || tokenFile != nil) }
    }

    /// The file has a token, but for another address.
    let isTokenWithheld: Bool

    /// The file is not read if the flags give both address and token.
    init(_ flags: Flags, environment: [String: String] = ProcessInfo.processInfo.environment) throws(ClientError) {
        let path = Self.filePath(environment)
        // Scripts often set a variable to the empty string to unset it.
        let environment = environment.filter { !$0.value.isEmpty }
        let file = flags.sayAll ? nil : try ClientConfigurationFile(reading: path)
        let (url, source) = Self.first(
            (flags.url, "--url"), (environment["FETCHD_URL"], "FETCHD_URL"), (file?.url, path),
            (ServiceAddress.standard, "default"))
        address = try ServiceAddress(url ?? ServiceAddress.standard, from: source)
        // The token of the file is not sent to another address.
        let home = try ServiceAddress(file?.url ?? ServiceAddress.standard, from: path)
        let fileToken = home == address ? file?.token : nil
        isTokenWithheld = fileToken == nil && file?.token != nil
        token = try Self.token(flags, environment, ofFile: fileToken, at: path)
        let authorities = flags.caFile ?? environment["FETCHD_CA_FILE"] ?? file?.caFile
        caFile = authorities.map { $0.expandingHome() ?? $0 }
        let isExposed = file?.isExposed ?? false
        warnings =
            isExposed ? ["\(path) has a token, and other users can read it. To protect it: chmod 600 \(path)"] : []
    }

    private static func first(_ candidates: (value: String?, source: String)...) -> (String?, String) {
        candidates.first { $0.value != nil } ?? (nil, "")
    }

    private static func token(
        _ flags: Flags, _ environment: [String: String], ofFile fileToken: String?, at path: String
    ) throws(ClientError) -> String? {
        let fromFile = try flags.tokenFile.map { path throws(ClientError) in try InputFile.firstLine(of: path) }
        let (token, source) = first(
            (flags.token, "--token"), (fromFile, flags.tokenFile ?? ""), (environment["FETCHD_TOKEN"], "FETCHD_TOKEN"),
            (fileToken, path))
        guard let token else { return nil }
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ClientError(
                .misconfigured, "The token cannot be used",
                token.isEmpty
                    ? "The token given by \(source) is empty."
                    : "The token given by \(source) must be visible ASCII characters, without spaces or line breaks.")
        }
        return token
    }

    /// The path by the XDG Base Directory Specification, which says to ignore a relative `XDG_CONFIG_HOME`.
    static func filePath(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") { return "\(folder)/fetchd/config.json" }
        return "\(environment["HOME"] ?? NSHomeDirectory())/.config/fetchd/config.json"
    }
}

/// `{"url": "https://...", "token": "...", "ca_file": "..."}`. Each member is optional.
private struct ClientConfigurationFile {
    var url: String?
    var token: String?
    var caFile: String?
    /// The file has a token, and its group or all users may read it.
    var isExposed = false

    /// - Returns: nil if the file does not exist.
    init?(reading path: String) throws(ClientError) {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let bytes: [UInt8]
        do {
            bytes = try InputFile.bytes(of: path)
        } catch {
            throw Self.unusable(error.sentence)
        }
        guard let members = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] else {
            throw Self.unusable("\(path) must hold a JSON object, such as {\"url\": \"https://...\"}.")
        }
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            guard let text = value as? String else { throw Self.unusable("'\(name)' in \(path) must be a string.") }
            switch name {
            case "url": url = text
            case "token": token = text
            case "ca_file": caFile = text
            default: throw Self.unusable("\(path) contains '\(name)'; it may contain url, token and ca_file.")
            }
        }
        let mode = (try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? Int ?? 0
        isExposed = token != nil && mode & 0o077 != 0
    }

    private static func unusable(_ sentence: String) -> ClientError {
        ClientError(.misconfigured, "The configuration cannot be used", sentence)
    }
}

struct ServiceOptions: ParsableArguments {
    @Option(
        "The address of the service. (default: FETCHD_URL, configuration file, or \(ServiceAddress.standard))",
        "address")
    var url: String?

    @Option(
        "The bearer token. Other users can read command lines: prefer FETCHD_TOKEN, --token-file or the configuration file.",
        "token")
    var token: String?

    @Option("A file with the bearer token.", "file", completion: .file()) var tokenFile: String?

    @Option("Certificates (PEM) to trust instead of the system's; also FETCHD_CA_FILE.", "file", completion: .file())
    var caFile: String?

    @Flag(help: "Print the JSON documents of the API. Errors are JSON, too, on standard error.")
    var json = false

    /// For completions, which must not delay the shell.
    @Option(help: ArgumentHelp("The total timeout of a request.", valueName: "duration", visibility: .hidden))
    var patience: DurationArgument?

    var flags: ClientSettings.Flags {
        ClientSettings.Flags(url: url, token: token, tokenFile: tokenFile, caFile: caFile)
    }
}

/// The address of the service: scheme, host, port, and the path prefix of a reverse proxy, if there is one; or
/// `unix:` with the path of a Unix domain socket.
struct ServiceAddress: Sendable, Equatable, CustomStringConvertible {
    /// The URL has no slash at the end.
    let baseURL: String
    /// The path of the Unix domain socket, if the address is one.
    let unixSocket: String?

    static let standard = "http://127.0.0.1:8080"

    /// - Parameter source: the origin of the text, for the error.
    init(_ text: String, from source: String) throws(ClientError) {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if trimmed.hasPrefix("unix:") {
            let path = trimmed.dropFirst(5)
            guard path.hasPrefix("/"), !path.utf8.contains(0) else { throw .unusable(text, from: source) }
            baseURL = "http://127.0.0.1"
            unixSocket = String(path)
            return
        }
        let url = trimmed.contains("://") ? trimmed : "http://" + trimmed
        guard let url = url.withASCIIHost, let parts = URLComponents(string: url),
            let scheme = parts.scheme?.lowercased(),
            ["http", "https"].contains(scheme), let host = parts.host, !host.isEmpty, parts.user == nil,
            parts.password == nil, parts.query == nil, parts.fragment == nil, (1...65_535).contains(parts.port ?? 80),
            url.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F })
        else { throw .unusable(text, from: source) }
        unixSocket = nil
        baseURL = String(url.reversed().drop { $0 == "/" }.reversed())
    }

    var description: String { unixSocket.map { "unix:\($0)" } ?? baseURL }
}

extension ClientError {
    fileprivate static func unusable(_ address: String, from source: String) -> ClientError {
        ClientError(
            .misconfigured, "The address cannot be used",
            "The address '\(Printable(address))', given by \(source), cannot be used. Use an address such as http://127.0.0.1:8080, without user, password or query, or unix:/run/fetchd.sock."
        )
    }
}
