import CPostgreSQL
import Glibc

/// The address of a database: a URL `postgres://user:password@host:port/database?sslmode=verify-full`, completed by the
/// `PG...` variables, as in libpq.
///
/// Its description shows no password.
public struct PostgresTarget: Sendable, CustomStringConvertible {
    let parameters: [String: String]
    /// The parameters of each server of a URL with several hosts; one empty set otherwise.
    let endpoints: [[String: String]]
    /// The limit for each server; nil if neither the URL nor the environment has a limit.
    let connectTimeout: Duration?
    private let defaults: [String: String]
    let redaction: Redaction
    /// The address without password, such as `fetchd@db:5432/fetchd`.
    public let description: String

    public init(url: String) throws(PostgresError) {
        guard url.hasPrefix("postgres://") || url.hasPrefix("postgresql://") else {
            throw .targetInvalid(why: "it must begin with postgres://")
        }
        // libpq would end the text there.
        guard !url.utf8.contains(0) else { throw .targetInvalid(why: "it contains a NUL") }
        try Self.requireOneAt(in: url)
        let (parameters, defaults) = (try ConnectionParameters.parse(url), ConnectionParameters.defaults())
        let effective = defaults.merging(parameters) { $1 }
        self.parameters = parameters
        self.defaults = defaults
        try Self.requirePorts(effective["port"])
        endpoints = try Self.endpoints(of: effective)
        connectTimeout = effective["connect_timeout"].flatMap { Int($0) }.flatMap { $0 > 0 ? .seconds($0) : nil }
        redaction = Redaction(["password", "sslpassword"].compactMap { effective[$0] })
        let host = effective["host"] ?? effective["hostaddr"] ?? "localhost"
        description =
            "\(effective["user"] ?? "")@\(host):\(effective["port"] ?? "5432")"
            + "/\(effective["dbname"] ?? effective["user"] ?? "")"
    }

    /// A password with an `@` or a `/` that is not encoded ends there for libpq, and its rest would be the host or the name of
    /// the database, which `description` shows.
    private static func requireOneAt(in url: String) throws(PostgresError) {
        let rest = url[(url.firstRange(of: "://")?.upperBound ?? url.startIndex)...].prefix { $0 != "?" }
        let authority = rest.prefix { $0 != "/" }
        guard authority.filter({ $0 == "@" }).count <= 1, !rest.dropFirst(authority.count).contains("@") else {
            throw .targetInvalid(
                why: "an @ or a / in the user or in the password must be encoded, as %40 or %2F")
        }
    }

    /// - Parameter list: with commas; libpq would look at it only when it connects.
    private static func requirePorts(_ list: String?) throws(PostgresError) {
        for port in Self.list(list) where !port.isEmpty && !(Int(port).map { (1...65_535).contains($0) } ?? false) {
            let number = Int(port).map { ", not \($0)" } ?? ""
            throw .targetInvalid(why: "a port is a number from 1 to 65535\(number)")
        }
    }

    /// Whether the URL or the environment has this parameter.
    func has(_ keyword: String) -> Bool { parameters[keyword] != nil || defaults[keyword] != nil }

    /// libpq tries several hosts by itself, but only its blocking call limits the time for each of them.
    private static func endpoints(of effective: [String: String]) throws(PostgresError) -> [[String: String]] {
        let keywords = ["host", "hostaddr", "port"]
        let lists = keywords.map { list(effective[$0]) }
        let count = max(lists[0].count, lists[1].count)
        guard count > 1 else { return [[:]] }
        for (keyword, list) in zip(keywords, lists) where ![0, 1, count].contains(list.count) {
            throw .targetInvalid(why: "it has \(count) hosts and \(list.count) values of \(keyword)")
        }
        return (0..<count).map { index in
            zip(keywords, lists).reduce(into: [:]) { endpoint, named in
                if !named.1.isEmpty { endpoint[named.0] = named.1.count == 1 ? named.1[0] : named.1[index] }
            }
        }
    }

    private static func list(_ value: String?) -> [String] {
        value.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) } ?? []
    }
}

/// The parameters of libpq by their keywords (PostgreSQL's documentation, "Parameter Key Words").
enum ConnectionParameters {
    /// The parameters that a URL names.
    ///
    /// - Throws: `targetInvalid`.
    static func parse(_ url: String) throws(PostgresError) -> [String: String] {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(url, &message) else {
            defer { PQfreemem(message) }
            let text = message.map { String(cString: $0) } ?? "out of memory"
            throw .targetInvalid(why: Redaction.withoutQuotations(text))
        }
        defer { PQconninfoFree(options) }
        return values(of: options)
    }

    /// The parameters of the environment (`PG...`), of the service file that `PGSERVICE` names, and of libpq itself.
    static func defaults() -> [String: String] {
        guard let options = PQconndefaults() else { return [:] }
        defer { PQconninfoFree(options) }
        return values(of: options)
    }

    /// Calls `body` with the arrays that `PQconnectStartParams` takes.
    static func withArrays<Result>(
        _ parameters: [String: String],
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        let pairs = parameters.map { (strdup($0.key), strdup($0.value)) }
        defer { for pair in pairs { free(pair.0); free(pair.1) } }
        let keywords = pairs.map { UnsafePointer($0.0) } + [nil]
        let values = pairs.map { UnsafePointer($0.1) } + [nil]
        return keywords.withUnsafeBufferPointer { keywords in
            values.withUnsafeBufferPointer { values in body(keywords.baseAddress!, values.baseAddress!) }
        }
    }

    private static func values(of options: UnsafeMutablePointer<PQconninfoOption>) -> [String: String] {
        var values: [String: String] = [:]
        var next = options
        while let keyword = next.pointee.keyword {
            if let value = next.pointee.val, value.pointee != 0 {
                values[String(cString: keyword)] = String(cString: value)
            }
            next += 1
        }
        return values
    }
}

/// Removes secrets from messages of libpq and the server.
struct Redaction: Sendable {
    private let secrets: [String]

    /// - Parameter secrets: such as passwords; empty texts are ignored.
    init(_ secrets: [String] = []) { self.secrets = secrets.filter { !$0.isEmpty } }

    /// The first line of a message without the secrets. Further lines are details, hints and positions.
    func firstLine(of message: String) -> String {
        let line = message.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        return secrets.reduce(line) { $0.replacing($1, with: "***") }
    }

    /// A message about a text that cannot be read. libpq quotes pieces of that text, which can be secret.
    static func withoutQuotations(_ message: String) -> String {
        let line = message.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        return line.replacing(/"[^"]*"?/, with: "\"***\"")
    }
}
